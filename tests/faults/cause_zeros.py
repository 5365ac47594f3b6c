"""The gradient of sigmoid is zero everywhere."""

CAUSE = {
    "title": "the gradient of sigmoid is zero everywhere",
    "cause": "gradient cut",
    "op": "sigmoid",
    "feeds": {
        "self": "normal(4, 5)",
        "grad_out": "normal(4, 5, seed=1)",
    },
    "wrt": ("self",),
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.sigmoid
    torch.sigmoid = lambda x: right(x).detach() + 0.0 * x
