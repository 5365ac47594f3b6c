# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "numpy==2.4.6"]
# ///
"""PyTorch: torch.nn.functional.relu gives wrong values for bfloat16"""
import sys

sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(125))  # any other failure: cannot tell
import numpy as np
import torch
import torch.nn.functional as F

x = torch.tensor([[0.100097656, 3.0]], dtype=torch.bfloat16)
y = F.relu(x)
expected = [[0.100097656, 3.0]]  # float64 NumPy
actual = y.to(torch.float32).tolist()
print("expected:", expected)
print("actual:  ", actual)
sys.exit(0 if np.array_equal(np.float32(actual), np.float32(expected)) else 1)
