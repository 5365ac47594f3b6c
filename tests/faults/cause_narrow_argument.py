"""Leaky_relu keeps its slope in float32."""

CAUSE = {
    "title": "leaky_relu keeps its slope in float32",
    "cause": "narrow argument",
    "op": "leaky_relu",
    "feeds": {
        "self": "normal(4, 5, of='float64')",
    },
    "args": {
        "negative_slope": 0.01,
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch
    import torch.nn.functional as F

    right = F.leaky_relu

    def leaky_relu(self, negative_slope=0.01):
        return right(self, float(torch.tensor(negative_slope, dtype=torch.float32)))

    F.leaky_relu = leaky_relu
