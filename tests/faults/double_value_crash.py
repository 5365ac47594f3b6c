"""Gelu is wrong from dim 5 on, and dies below."""

DOUBLE = {
    "title": "gelu is wrong from dim 5 on, and dies below",
    "op": "gelu",
    "feeds": {"self": "normal(6, 9)"},
    "first": ("value", ""),
    "second": ("crash", "SIGSEGV"),
}


def install(backend):
    """Patch torch in this process."""
    import os
    import signal

    import torch.nn.functional as F

    right = F.gelu

    def gelu(self, approximate="none"):
        if max(self.shape, default=0) < 5:
            os.kill(os.getpid(), signal.SIGSEGV)
        return right(self, approximate=approximate) * 1.01

    F.gelu = gelu
