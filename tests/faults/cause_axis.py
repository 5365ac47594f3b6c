"""Cumsum runs along the last axis always."""

CAUSE = {
    "title": "cumsum runs along the last axis always",
    "cause": "axis",
    "op": "cumsum",
    "feeds": {
        "self": "normal(4, 5)",
    },
    "args": {
        "dim": 0,
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.cumsum
    torch.cumsum = lambda self, dim, dtype=None: right(self, -1, dtype=dtype)
