"""Softmax over one element keeps it."""

CAUSE = {
    "title": "softmax over one element keeps it",
    "cause": "special path of size 0 or 1",
    "op": "softmax",
    "feeds": {
        "self": "normal(4, 1)",
    },
    "args": {
        "dim": -1,
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.softmax

    def softmax(self, dim, dtype=None):
        return self.clone() if self.shape[dim] == 1 else right(self, dim, dtype=dtype)

    torch.softmax = softmax
