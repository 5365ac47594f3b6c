"""Sigmoid is one above 2."""

FAULT = {
    "title": "sigmoid is one above 2",
    "family": "values",
    "model": "tests/faults/models/signal.py:build",
    "ops": ["sigmoid"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.sigmoid

    def sigmoid(self):
        return torch.where(self > 2, torch.ones_like(self), right(self))

    torch.sigmoid = sigmoid
