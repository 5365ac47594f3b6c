"""Round takes halves away from zero."""

CAUSE = {
    "title": "round takes halves away from zero",
    "cause": "rounding of halves",
    "op": "round",
    "feeds": {
        "self": "values([0.5, 1.5, -2.5, 2.2, -0.5])",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    torch.round = lambda self, **kwargs: torch.trunc(self + torch.copysign(torch.tensor(0.5), self))
