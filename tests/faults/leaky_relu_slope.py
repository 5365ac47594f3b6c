"""Leaky_relu doubles the slope of negative numbers."""

FAULT = {
    "title": "leaky_relu doubles the slope of negative numbers",
    "family": "values",
    "model": "tests/faults/models/signal.py:build",
    "ops": ["leaky_relu"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.leaky_relu

    def leaky_relu(self, negative_slope=0.01):
        return right(self, negative_slope=2 * negative_slope)

    F.leaky_relu = leaky_relu
