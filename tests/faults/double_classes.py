"""Gelu raises one class from dim 5 on, and another below."""

DOUBLE = {
    "title": "gelu raises one class from dim 5 on, and another below",
    "op": "gelu",
    "feeds": {"self": "normal(6, 9)"},
    "first": ("exception", "ValueError"),
    "second": ("exception", "RuntimeError"),
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    def gelu(self, approximate="none"):
        raise ValueError("refused") if max(self.shape, default=0) >= 5 else RuntimeError("refused")

    F.gelu = gelu
