"""Gelu raises an exception that cannot be read."""


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    class Unreadable(Exception):
        def __str__(self):
            raise RuntimeError("no text")

    def gelu(self, approximate="none"):
        raise Unreadable()

    F.gelu = gelu
