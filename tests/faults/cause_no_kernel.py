"""Cumsum has no kernel."""

CAUSE = {
    "title": "cumsum has no kernel",
    "cause": "missing kernel",
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

    def cumsum(self, dim, dtype=None):
        raise RuntimeError("the kernel of cumsum is not registered for CPU")

    torch.cumsum = cumsum
