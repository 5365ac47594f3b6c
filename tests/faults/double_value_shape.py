"""Softmax is wrong from dim 5 on, and one axis too many below."""

DOUBLE = {
    "title": "softmax is wrong from dim 5 on, and one axis too many below",
    "op": "softmax",
    "feeds": {"self": "normal(6, 9)"},
    "args": {"dim": -1},
    "first": ("value", ""),
    "second": ("shape", ""),
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.softmax

    def softmax(self, dim, dtype=None):
        out = right(self, dim, dtype=dtype)
        return out * 1.01 if max(self.shape, default=0) >= 5 else out[None]

    torch.softmax = softmax
