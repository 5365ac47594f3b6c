# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "numpy==2.4.6"]
# ///
"""PyTorch: torch.special.ndtr gives wrong values"""
import sys

sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(125))  # any other failure: cannot tell
import numpy as np
import torch

x = torch.tensor([-20.0])
y = torch.special.ndtr(x)
expected = [2.7536241e-89]  # float64 NumPy
actual = y.tolist()
print("expected:", expected)
print("actual:  ", actual)
sys.exit(0 if np.abs(np.subtract(actual, expected)).max() <= 1e-95 else 1)  # rounding explains 1e-95
