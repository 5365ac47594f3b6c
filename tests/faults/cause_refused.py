"""Flip refuses two axes."""

CAUSE = {
    "title": "flip refuses two axes",
    "cause": "refused input",
    "op": "flip",
    "feeds": {
        "self": "normal(3, 4)",
    },
    "args": {
        "dims": (0, 1),
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.flip

    def flip(self, dims):
        if len(dims) > 1:
            raise ValueError("expected one axis")
        return right(self, dims)

    torch.flip = flip
