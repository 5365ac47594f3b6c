"""Gelu returns other bytes in every run."""


def install(backend):
    """Patch torch in this process."""
    import os

    import torch
    import torch.nn.functional as F

    def gelu(self, approximate="none"):
        fresh = bytearray(os.urandom(self.numel()))
        return torch.frombuffer(fresh, dtype=torch.uint8).reshape(self.shape) / 100.0

    F.gelu = gelu
