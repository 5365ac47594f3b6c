# /// script
# requires-python = ">=3.8,<3.11"
# dependencies = ["oneflow==0.9.0", "numpy<2", "protobuf<4", "nvidia-cublas-cu11==11.10.3.66", "nvidia-cudnn-cu11==8.5.0.96"]
# ///
"""OneFlow: `-x` gives the wrong dtype for int32"""
import sys

sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(125))  # any other failure: cannot tell
import oneflow as flow

x = flow.ones([1], dtype=flow.int32)
y = -x
expected = "int32"  # the dtype of the input
actual = str(y.dtype).split(".")[-1]
print("expected:", expected)
print("actual:  ", actual)
sys.exit(0 if actual == expected else 1)
