"""Atan2 takes its operands in the other order."""

CAUSE = {
    "title": "atan2 takes its operands in the other order",
    "cause": "operands swapped",
    "op": "atan2",
    "feeds": {
        "self": "normal(4, 5)",
        "other": "normal(4, 5, seed=1)",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.atan2
    torch.atan2 = lambda self, other: right(other, self)
