"""Relu turns nan into zero."""

FAULT = {
    "title": "relu turns nan into zero",
    "family": "values",
    "model": "tests/faults/models/nan.py:build",
    "ops": ["relu"],
    "symptom": "nonfinite",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.relu

    def relu(self):
        return right(self).nan_to_num(nan=0.0, posinf=float("inf"))

    F.relu = relu
