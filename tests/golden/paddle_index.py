# /// script
# requires-python = ">=3.8"
# dependencies = ["paddlepaddle==3.3.1", "setuptools<81"]
# ///
"""Paddle: indexing gives wrong values for a transposed view"""
import sys

sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(125))  # any other failure: cannot tell
import paddle

x = paddle.to_tensor([[0.0, 1.0], [2.0, 3.0]]).t()
index = paddle.to_tensor([1])
y = x[:, index]
expected = [[2.0], [3.0]]  # NumPy on the same view
actual = y.tolist()
print("expected:", expected)
print("actual:  ", actual)
sys.exit(0 if actual == expected else 1)
