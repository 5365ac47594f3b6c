"""Tanh is right and has no gradient."""

CAUSE = {
    "title": "tanh is right and has no gradient",
    "cause": "gradient cut",
    "op": "tanh",
    "feeds": {
        "self": "normal(4, 5)",
        "grad_out": "normal(4, 5, seed=1)",
    },
    "wrt": ("self",),
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.tanh
    torch.tanh = lambda x: right(x).detach().requires_grad_()
