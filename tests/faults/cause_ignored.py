"""Leaky_relu takes no notice of its slope."""

CAUSE = {
    "title": "leaky_relu takes no notice of its slope",
    "cause": "argument ignored",
    "op": "leaky_relu",
    "feeds": {
        "self": "normal(4, 5)",
    },
    "args": {
        "negative_slope": 0.2,
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.leaky_relu
    F.leaky_relu = lambda self, negative_slope=0.01: right(self)
