"""Pad ignores the value and takes zero."""

FAULT = {
    "title": "pad ignores the value and takes zero",
    "family": "formula",
    "model": "tests/faults/models/signal.py:build",
    "ops": ["pad"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.pad

    def pad(self, pad, mode="constant", value=None):
        return right(self, pad, mode=mode)

    F.pad = pad
