"""Cumsum leaves the present item out."""

FAULT = {
    "title": "cumsum leaves the present item out",
    "family": "formula",
    "model": "tests/faults/models/signal.py:build",
    "ops": ["cumsum"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.cumsum

    def cumsum(self, *args, **kwargs):
        return right(self, *args, **kwargs) - self

    torch.cumsum = cumsum
