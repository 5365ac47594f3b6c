"""Var ignores the correction."""

FAULT = {
    "title": "var ignores the correction",
    "family": "formula",
    "model": "tests/faults/models/signal.py:build",
    "ops": ["var"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.var

    def var(self, dim=None, unbiased=True, keepdim=False):
        return right(self, dim=dim, correction=0, keepdim=keepdim)

    torch.var = var
