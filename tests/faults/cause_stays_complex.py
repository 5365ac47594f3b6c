"""The magnitude of complex numbers is complex."""

CAUSE = {
    "title": "the magnitude of complex numbers is complex",
    "cause": "dtype promotion",
    "op": "abs",
    "feeds": {
        "self": "normal(4, 5, of='complex64')",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.abs

    def magnitude(x):
        return right(x).to(x.dtype)

    torch.abs = torch.Tensor.abs = magnitude
