# /// script
# requires-python = ">=3.8,<3.11"
# dependencies = ["oneflow==0.9.0", "numpy<2", "protobuf<4", "nvidia-cublas-cu11==11.10.3.66", "nvidia-cudnn-cu11==8.5.0.96"]
# ///
"""OneFlow: `x > 0` gives wrong values for nan"""
import sys

sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(125))  # any other failure: cannot tell
from math import nan
import oneflow as flow

x = flow.tensor([nan])
y = x > 0
expected = [False]  # IEEE 754: nothing is greater than nan
actual = y.tolist()
print("expected:", expected)
print("actual:  ", actual)
sys.exit(0 if actual == expected else 1)
