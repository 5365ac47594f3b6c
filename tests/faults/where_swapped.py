"""Where takes the other side."""

FAULT = {
    "title": "where takes the other side",
    "family": "formula",
    "model": "tests/faults/models/signal.py:build",
    "ops": ["where"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.where

    def where(condition, self, other):
        return right(condition, other, self)

    torch.where = where
