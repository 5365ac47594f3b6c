"""Gelu returns memory that it never wrote."""


def install(backend):
    """Patch torch in this process."""
    import torch
    import torch.nn.functional as F

    F.gelu = lambda self, approximate="none": torch.empty(self.shape)
