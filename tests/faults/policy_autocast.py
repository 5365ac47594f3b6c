"""Autocast is on, as a training script leaves it."""


def install(backend):
    """Switch it on in this process."""
    import torch

    torch.autocast("cpu", torch.bfloat16).__enter__()
