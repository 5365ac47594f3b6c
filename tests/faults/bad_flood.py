"""Gelu writes to standard output for ever."""


def install(backend):
    """Patch torch in this process."""
    import os

    import torch.nn.functional as F

    text = b"flood " * 20000

    def gelu(self, approximate="none"):
        while True:
            os.write(1, text)

    F.gelu = gelu
