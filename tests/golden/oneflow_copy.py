# /// script
# requires-python = ">=3.8,<3.11"
# dependencies = ["oneflow==0.9.0", "protobuf<4", "nvidia-cublas-cu11==11.10.3.66", "nvidia-cudnn-cu11==8.5.0.96", "numpy==1.26.4"]
# ///
"""OneFlow: Tensor.copy_ gives wrong values for a transposed view"""
# REPLAY of a historical bug (OneFlow before its fix of September 2021): on today's release this passes.
import sys

sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(125))  # any other failure: cannot tell
import numpy as np
import oneflow as flow

y = flow.zeros([2, 2])
src = np.array([[0.0, 1.0], [2.0, 3.0]], dtype=np.float32).T
y.copy_(src)
expected = [[0.0, 2.0], [1.0, 3.0]]  # bits of the source
actual = y.tolist()
print("expected:", expected)
print("actual:  ", actual)
sys.exit(0 if actual == expected else 1)
