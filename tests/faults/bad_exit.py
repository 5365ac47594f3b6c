"""Gelu ends the process as if all were well."""


def install(backend):
    """Patch torch in this process."""
    import os

    import torch.nn.functional as F

    F.gelu = lambda self, approximate="none": os._exit(0)
