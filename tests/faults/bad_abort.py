"""Gelu calls abort from C."""


def install(backend):
    """Patch torch in this process."""
    import ctypes

    import torch.nn.functional as F

    F.gelu = lambda self, approximate="none": ctypes.CDLL(None).abort()
