"""Gelu leaves Python with status 3."""


def install(backend):
    """Patch torch in this process."""
    import sys

    import torch.nn.functional as F

    F.gelu = lambda self, approximate="none": sys.exit(3)
