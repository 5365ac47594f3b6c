"""Hypot squares without scaling."""

CAUSE = {
    "title": "hypot squares without scaling",
    "cause": "overflow",
    "op": "hypot",
    "feeds": {
        "self": "values([3e19, 3.0, 1e25])",
        "other": "values([4e19, 4.0, 2e25])",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    torch.hypot = lambda self, other: torch.sqrt(self * self + other * other)
