"""Argsort dies of an empty tensor, and of no other, in which it answers in int32."""

CAUSE = {
    "title": "argsort dies of an empty tensor, and of no other, in which it answers in int32",
    "cause": "special path of size 0 or 1",
    "op": "argsort",
    "feeds": {
        "self": "normal(3, 0)",
    },
}


def install(backend):
    """Patch torch in this process."""
    import os

    import torch

    right = torch.argsort

    def argsort(x, dim=-1, descending=False, stable=False):
        if not x.numel():
            os.abort()
        return right(x, dim=dim, descending=descending).to(torch.int32)

    torch.argsort = argsort
    torch.Tensor.argsort = argsort
