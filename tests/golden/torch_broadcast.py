# /// script
# requires-python = ">=3.10"
# dependencies = ["torch==2.13.0"]
# ///
"""PyTorch: torch.nn.functional.relu gives wrong values for a broadcast view"""
import sys

sys.excepthook = lambda *error: (sys.__excepthook__(*error), sys.exit(125))  # any other failure: cannot tell
import torch
import torch.nn.functional as F

x = torch.tensor([[1.5]]).expand([1, 3])
y = F.relu(x)
expected = [[1.5, 1.5, 1.5]]  # every element is positive
actual = y.tolist()
print("expected:", expected)
print("actual:  ", actual)
sys.exit(0 if actual == expected else 1)
