"""Sigmoid is the hard one."""

CAUSE = {
    "title": "sigmoid is the hard one",
    "cause": "approximate formula",
    "op": "sigmoid",
    "feeds": {
        "self": "normal(4, 5)",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    torch.sigmoid = lambda self: torch.clamp(self / 6.0 + 0.5, 0.0, 1.0)
