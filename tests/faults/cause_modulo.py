"""% takes the sign of the dividend."""

CAUSE = {
    "title": "% takes the sign of the dividend",
    "cause": "integer division and modulo",
    "op": "remainder",
    "feeds": {
        "self": "integers(8, low=-9, high=9)",
        "other": "integers(8, low=2, high=5, seed=1)",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    torch.Tensor.__mod__ = lambda self, other: torch.fmod(self, other)
