"""Gelu is wrong from dim 5 on, and raises below."""

DOUBLE = {
    "title": "gelu is wrong from dim 5 on, and raises below",
    "op": "gelu",
    "feeds": {"self": "normal(6, 9)"},
    "first": ("value", ""),
    "second": ("exception", "RuntimeError"),
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.gelu

    def gelu(self, approximate="none"):
        if max(self.shape, default=0) < 5:
            raise RuntimeError("another bug")
        return right(self, approximate=approximate) * 1.01

    F.gelu = gelu
