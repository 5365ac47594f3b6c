# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "numpy==2.4.6"]
# ///
"""PyTorch: Tensor.copy_ gives wrong values for a transposed view"""
# REPLAY of a historical bug (OneFlow before its fix of September 2021): on today's release this passes.
import sys

sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(125))  # any other failure: cannot tell
import numpy as np
import torch

y = torch.zeros([2, 2])
src = np.array([[0.0, 1.0], [2.0, 3.0]], dtype=np.float32).T
y.copy_(torch.from_numpy(src))
expected = [[0.0, 2.0], [1.0, 3.0]]  # bits of the source
actual = y.tolist()
print("expected:", expected)
print("actual:  ", actual)
sys.exit(0 if actual == expected else 1)
