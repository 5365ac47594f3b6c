"""Integer // cuts towards zero."""

CAUSE = {
    "title": "integer // cuts towards zero",
    "cause": "integer division and modulo",
    "op": "floor_divide",
    "feeds": {
        "self": "integers(8, low=-9, high=9)",
        "other": "integers(8, low=2, high=5, seed=1)",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    torch.Tensor.__floordiv__ = lambda self, other: torch.div(self, other, rounding_mode="trunc")
