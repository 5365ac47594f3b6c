# /// script
# requires-python = ">=3.8,<3.11"
# dependencies = ["oneflow==0.9.0", "numpy<2", "protobuf<4", "nvidia-cublas-cu11==11.10.3.66", "nvidia-cudnn-cu11==8.5.0.96"]
# ///
"""OneFlow: Tensor.fill_ gives wrong values for a strided view"""
import sys

sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(125))  # any other failure: cannot tell
import oneflow as flow

x = flow.zeros([3])[::2]
x.fill_(1)
expected = [1.0, 1.0]  # every viewed element
actual = x.tolist()
print("expected:", expected)
print("actual:  ", actual)
sys.exit(0 if actual == expected else 1)
