"""Addcmul takes no notice of its first factor."""

CAUSE = {
    "title": "addcmul takes no notice of its first factor",
    "cause": "input ignored",
    "op": "addcmul",
    "feeds": {
        "self": "normal(4, 5)",
        "tensor1": "normal(4, 5, seed=1)",
        "tensor2": "normal(4, 5, seed=2)",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.addcmul
    torch.addcmul = lambda x, one, two, value=1: right(x, torch.ones_like(one), two, value=value)
