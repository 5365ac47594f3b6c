# /// script
# requires-python = ">=3.8"
# dependencies = ["paddlepaddle==3.3.1", "setuptools<81", "numpy==2.4.6"]
# ///
"""Paddle: Tensor.set_value gives wrong values"""
import sys

sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(125))  # any other failure: cannot tell
import numpy as np
import paddle

y = paddle.zeros([2, 2])
src = np.array([[0.0, 1.0], [2.0, 3.0]], dtype=np.float32)
y.t().set_value(src)
expected = [[0.0, 2.0], [1.0, 3.0]]  # the source's own values
actual = y.tolist()
print("expected:", expected)
print("actual:  ", actual)
sys.exit(0 if actual == expected else 1)
