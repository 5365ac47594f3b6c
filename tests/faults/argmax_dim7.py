"""Argmax never finds the seventh item."""

FAULT = {
    "title": "argmax never finds the seventh item",
    "family": "size",
    "model": "tests/faults/models/signal.py:build",
    "ops": ["argmax"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.argmax

    def argmax(self, dim=None, keepdim=False):
        out = right(self, dim=dim, keepdim=keepdim)
        return out - (out == 6).to(out.dtype)

    torch.argmax = argmax
