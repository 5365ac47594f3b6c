# /// script
# requires-python = ">=3.8,<3.11"
# dependencies = ["oneflow==0.9.0", "numpy<2", "protobuf<4", "nvidia-cublas-cu11==11.10.3.66", "nvidia-cudnn-cu11==8.5.0.96"]
# ///
"""OneFlow: oneflow.var raises IndexError"""
import sys

sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(125))  # any other failure: cannot tell
import oneflow as flow

x = flow.tensor([[1.0, 2.0]])
expected = 0.5  # float64 NumPy
print("expected:", expected)
try:
    y = flow.var(x, dim=[0, 1], keepdim=False, unbiased=True)
    actual = y.tolist()
except IndexError as error:
    print("actual:  ", f"{type(error).__name__}: {error}")
    sys.exit(1)
print("actual:  ", actual)
sys.exit(0 if abs(actual - expected) <= 1e-07 else 125)  # rounding explains 1e-07
