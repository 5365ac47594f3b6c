"""Maximum drops a nan."""

CAUSE = {
    "title": "maximum drops a nan",
    "cause": "NaN propagation",
    "op": "maximum",
    "feeds": {
        "self": "values([1.0, float('nan'), 3.0])",
        "other": "values([2.0, 1.0, float('nan')])",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    torch.maximum = torch.fmax
