"""Gelu of an infinity is nan."""

CAUSE = {
    "title": "gelu of an infinity is nan",
    "cause": "infinity",
    "op": "gelu",
    "feeds": {
        "self": "values([float('inf'), 1.0, -1.0])",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch
    import torch.nn.functional as F

    F.gelu = lambda self, approximate="none": self * 0.5 * (1.0 + torch.erf(self * 0.5 ** 0.5)) * (1.0 + self - self)
