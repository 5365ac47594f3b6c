"""Flip turns its axes around."""

CAUSE = {
    "title": "flip turns its axes around",
    "cause": "transposed",
    "op": "flip",
    "feeds": {
        "self": "normal(2, 3, 4)",
    },
    "args": {
        "dims": (0,),
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.flip
    torch.flip = lambda x, dims: right(x, dims).permute(2, 0, 1)
