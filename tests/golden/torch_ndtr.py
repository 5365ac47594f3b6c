# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0", "numpy==2.4.6"]
# ///
"""PyTorch: torch.special.ndtr gives wrong values for float64"""
import sys

sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(125))  # any other failure: cannot tell
import numpy as np
import torch

x = torch.tensor([-9.0], dtype=torch.float64)
y = torch.special.ndtr(x)
expected = [1.1285884059538405e-19]  # erfc(9 / sqrt(2)) / 2
actual = y.tolist()
print("expected:", expected)
print("actual:  ", actual)
sys.exit(0 if np.abs(np.subtract(actual, expected)).max() <= 1e-24 else 1)  # rounding explains 1e-24
