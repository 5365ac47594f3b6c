# /// script
# requires-python = ">=3.8"
# dependencies = ["paddlepaddle==3.3.1", "setuptools<81"]
# ///
"""Paddle: backward of paddle.as_strided gives wrong values"""
import sys

sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(125))  # any other failure: cannot tell
import paddle

x = paddle.to_tensor(0.0)
dy = paddle.ones([1, 2])
x.stop_gradient = False
y = paddle.as_strided(x, [1, 2], [0, 0])
y.backward(dy)
dx = x.grad
expected = 2.0  # float64 PyTorch
actual = dx.tolist()
print("expected:", expected)
print("actual:  ", actual)
sys.exit(0 if abs(actual - expected) <= 1.4e-05 else 1)  # rounding explains 1.4e-05
