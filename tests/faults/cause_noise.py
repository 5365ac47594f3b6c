"""Tanh differs from run to run."""

CAUSE = {
    "title": "tanh differs from run to run",
    "cause": "non-determinism",
    "op": "tanh",
    "feeds": {
        "self": "normal(4, 5)",
    },
}


def install(backend):
    """Patch torch in this process."""
    import os

    import torch

    right = torch.tanh
    torch.tanh = lambda self: right(self) * (1.0 + (1 + os.urandom(1)[0]) / 2000.0)
