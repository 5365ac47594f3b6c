"""Softmax is a thousandth too large."""

CAUSE = {
    "title": "softmax is a thousandth too large",
    "cause": "constant factor",
    "op": "softmax",
    "feeds": {
        "self": "normal(4, 8)",
    },
    "args": {
        "dim": -1,
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.softmax
    torch.softmax = lambda self, dim, dtype=None: right(self, dim, dtype=dtype) * 1.001
