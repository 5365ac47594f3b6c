"""Gelu is right and prints: from Python, from C, to the descriptor, and a lot."""


def install(backend):
    """Patch torch in this process."""
    import ctypes
    import os
    import sys

    import torch.nn.functional as F

    right = F.gelu
    print("chatter of the import")
    os.write(1, b"chatter of the import\n")

    def gelu(self, approximate="none"):
        print("chatter from Python", flush=True)
        print("chatter " * 100000)
        sys.stderr.write("chatter on standard error\n")
        os.write(1, b"chatter on the descriptor\n" * 200000)
        ctypes.CDLL(None).puts(b"chatter from C")
        ctypes.CDLL(None).fflush(None)
        return right(self, approximate=approximate)

    F.gelu = gelu
