# /// script
# requires-python = ">=3.8"
# dependencies = ["paddlepaddle==3.3.1", "setuptools<81"]
# ///
"""Paddle: paddle.nn.functional.relu accepts what it should refuse"""
import sys

sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(125))  # any other failure: cannot tell
import paddle
import paddle.nn.functional as F

x = paddle.ones([1])
print("expected: an exception")  # torch refuses this
try:
    y = F.relu(x)
    actual, status = y.tolist(), 1
except Exception as error:
    actual, status = f"{type(error).__name__}: {error}", 0
print("actual:  ", actual)
sys.exit(status)
