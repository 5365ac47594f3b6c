# /// script
# requires-python = ">=3.8"
# dependencies = ["paddlepaddle==3.3.1", "setuptools<81"]
# ///
"""Paddle: indexing gives the wrong shape for a transposed view"""
import sys

sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(125))  # any other failure: cannot tell
import paddle

x = paddle.to_tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]).t()
index = paddle.to_tensor([True, False])
y = x[:, index]
expected = [3, 1]  # NumPy on the same view
actual = list(y.shape)
print("expected:", expected)
print("actual:  ", actual)
sys.exit(0 if actual == expected else 1)
