"""& on integers is the logical operator."""

CAUSE = {
    "title": "& on integers is the logical operator",
    "cause": "another operator",
    "op": "bitwise_and",
    "feeds": {
        "self": "integers(6, high=8)",
        "other": "integers(6, high=8, seed=1)",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    torch.Tensor.__and__ = lambda self, other: torch.logical_and(self, other)
    torch.bitwise_and = torch.logical_and
