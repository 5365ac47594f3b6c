"""Gelu reads address 0 from C."""


def install(backend):
    """Patch torch in this process."""
    import ctypes

    import torch.nn.functional as F

    F.gelu = lambda self, approximate="none": ctypes.string_at(0)
