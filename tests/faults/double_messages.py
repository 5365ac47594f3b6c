"""Gelu raises with one message from dim 5 on, and with another below."""

DOUBLE = {
    "title": "gelu raises with one message from dim 5 on, and with another below",
    "op": "gelu",
    "feeds": {"self": "normal(6, 9)"},
    "first": ("exception", "RuntimeError"),
    "second": ("exception", "RuntimeError"),
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    def gelu(self, approximate="none"):
        long = max(self.shape, default=0) >= 5
        raise RuntimeError(f"no kernel for size {self.numel()}" if long else f"bad stride {self.numel()}")

    F.gelu = gelu
