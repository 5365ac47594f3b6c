"""Var ignores the correction."""

FAULT = {
    "title": "var ignores the correction",
    "family": "formula",
    "model": "tests/faults/models/signal.py:build",
    "ops": ["var.correction"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.var

    def var(self, *args, **kwargs):
        kwargs["correction"] = 0
        return right(self, *args, **kwargs)

    torch.var = var
