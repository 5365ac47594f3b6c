"""Gelu dies of one signal from dim 5 on, and of another below."""

DOUBLE = {
    "title": "gelu dies of one signal from dim 5 on, and of another below",
    "op": "gelu",
    "feeds": {"self": "normal(6, 9)"},
    "first": ("crash", "SIGSEGV"),
    "second": ("crash", "SIGABRT"),
}


def install(backend):
    """Patch torch in this process."""
    import os
    import signal

    import torch.nn.functional as F

    def gelu(self, approximate="none"):
        os.kill(os.getpid(), signal.SIGSEGV if max(self.shape, default=0) >= 5 else signal.SIGABRT)

    F.gelu = gelu
