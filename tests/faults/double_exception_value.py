"""Gelu raises from dim 5 on, and is wrong below."""

DOUBLE = {
    "title": "gelu raises from dim 5 on, and is wrong below",
    "op": "gelu",
    "feeds": {"self": "normal(6, 9)"},
    "first": ("exception", "RuntimeError"),
    "second": ("value", ""),
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.gelu

    def gelu(self, approximate="none"):
        if max(self.shape, default=0) >= 5:
            raise RuntimeError("the bug")
        return right(self, approximate=approximate) * 1.01

    F.gelu = gelu
