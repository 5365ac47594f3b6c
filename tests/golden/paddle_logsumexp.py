# /// script
# requires-python = ">=3.8"
# dependencies = ["paddlepaddle==3.3.1", "setuptools<81"]
# ///
"""Paddle: paddle.logsumexp gives a non-finite value for infinity"""
import sys

sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(125))  # any other failure: cannot tell
from math import inf
import paddle

x = paddle.full([1], -inf)
y = paddle.logsumexp(x, [0])
expected = -inf  # float64 NumPy
actual = y.tolist()
print("expected:", expected)
print("actual:  ", actual)
sys.exit(0 if actual == expected else 1)
