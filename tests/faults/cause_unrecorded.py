"""Zero_ is not recorded."""

CAUSE = {
    "title": "zero_ is not recorded",
    "cause": "write not recorded",
    "op": "zero_",
    "feeds": {
        "self": "normal(4, 5)",
        "grad_out": "normal(4, 5, seed=1)",
    },
    "wrt": ("self",),
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.Tensor.zero_

    def zero_(x):
        right(x.detach())
        return x

    torch.Tensor.zero_ = torch.zero_ = zero_
