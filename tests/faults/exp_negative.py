"""Exp of a negative number is three terms of its series."""

FAULT = {
    "title": "exp of a negative number is three terms of its series",
    "family": "values",
    "model": "tests/faults/models/signal.py:build",
    "ops": ["exp"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.exp

    def exp(self):
        return torch.where(self < 0, 1 + self + self * self / 2, right(self))

    torch.exp = exp
