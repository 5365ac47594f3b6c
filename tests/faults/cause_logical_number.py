"""Bitwise_and with a number is logical."""

CAUSE = {
    "title": "bitwise_and with a number is logical",
    "cause": "another operator",
    "op": "bitwise_and",
    "feeds": {
        "self": "integers(4, 5, high=9)",
    },
    "args": {
        "other": 6,
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    def logical(x, y):
        return torch.logical_and(x, torch.tensor(y) if isinstance(y, int) else y)

    torch.bitwise_and = torch.Tensor.bitwise_and = torch.Tensor.__and__ = logical
