"""Gelu never returns from C and keeps Python's lock."""


def install(backend):
    """Patch torch in this process."""
    import ctypes

    import torch.nn.functional as F

    F.gelu = lambda self, approximate="none": ctypes.PyDLL(None).sleep(100000)
