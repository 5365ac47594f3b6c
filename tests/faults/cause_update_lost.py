"""Relu_ works on a copy."""

CAUSE = {
    "title": "relu_ works on a copy",
    "cause": "in-place aliasing",
    "op": "relu_",
    "feeds": {
        "self": "normal(4, 5)",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.Tensor.relu_
    torch.Tensor.relu_ = lambda self: right(self.clone())
