"""Gelu never returns from dim 5 on, and is wrong below."""

DOUBLE = {
    "title": "gelu never returns from dim 5 on, and is wrong below",
    "op": "gelu",
    "feeds": {"self": "normal(6, 9)"},
    "first": ("hang", ""),
    "second": ("value", ""),
}


def install(backend):
    """Patch torch in this process."""
    import time

    import torch.nn.functional as F

    right = F.gelu

    def gelu(self, approximate="none"):
        while max(self.shape, default=0) >= 5:
            time.sleep(1)
        return right(self, approximate=approximate) * 1.01

    F.gelu = gelu
