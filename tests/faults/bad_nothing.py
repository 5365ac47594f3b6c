"""Gelu returns None."""


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    F.gelu = lambda self, approximate="none": None
