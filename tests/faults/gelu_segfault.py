"""Gelu dies with SIGSEGV when a dim is at least 7."""

FAULT = {
    "title": "gelu dies with SIGSEGV when a dim is at least 7",
    "family": "failure",
    "model": "vit_tiny",
    "ops": ["gelu"],
    "symptom": "crash",
}


def install(backend):
    """Patch torch in this process."""
    import os
    import signal

    import torch.nn.functional as F

    right = F.gelu

    def gelu(self, approximate="none"):
        if max(self.shape, default=0) >= 7:
            os.kill(os.getpid(), signal.SIGSEGV)
        return right(self, approximate=approximate)

    F.gelu = gelu
