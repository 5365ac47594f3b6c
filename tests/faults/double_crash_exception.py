"""Gelu dies from dim 5 on, and raises below."""

DOUBLE = {
    "title": "gelu dies from dim 5 on, and raises below",
    "op": "gelu",
    "feeds": {"self": "normal(6, 9)"},
    "first": ("crash", "SIGABRT"),
    "second": ("exception", "ValueError"),
}


def install(backend):
    """Patch torch in this process."""
    import os
    import signal

    import torch.nn.functional as F

    def gelu(self, approximate="none"):
        if max(self.shape, default=0) < 5:
            raise ValueError("another bug")
        os.kill(os.getpid(), signal.SIGABRT)

    F.gelu = gelu
