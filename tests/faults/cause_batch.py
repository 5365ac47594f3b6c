"""Bmm takes the first right factor for every member of a batch."""

CAUSE = {
    "title": "bmm takes the first right factor for every member of a batch",
    "cause": "batch",
    "op": "bmm",
    "feeds": {
        "self": "normal(3, 4, 5)",
        "mat2": "normal(3, 5, 2, seed=1)",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.bmm
    torch.bmm = lambda one, other: right(one, other[:1].expand_as(other))
