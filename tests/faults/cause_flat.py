"""Flip fills its result in the order of the other axis."""

CAUSE = {
    "title": "flip fills its result in the order of the other axis",
    "cause": "flattened in memory order",
    "op": "flip",
    "feeds": {
        "self": "normal(3, 4)",
    },
    "args": {
        "dims": (0,),
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.flip
    torch.flip = lambda x, dims: right(x, dims).t().reshape(x.shape)
