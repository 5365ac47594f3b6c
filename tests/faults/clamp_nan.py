"""Clamp turns nan into its lower bound."""

FAULT = {
    "title": "clamp turns nan into its lower bound",
    "family": "values",
    "model": "tests/faults/models/nan.py:build",
    "ops": ["clamp"],
    "symptom": "nonfinite",
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.clamp

    def clamp(self, min=None, max=None):
        out = right(self, min=min, max=max)
        return out if min is None else torch.where(out == out, out, torch.full_like(out, min))

    torch.clamp = clamp
