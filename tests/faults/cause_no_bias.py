"""Conv1d forgets its bias."""

CAUSE = {
    "title": "conv1d forgets its bias",
    "cause": "bias twice or missing",
    "op": "conv1d",
    "feeds": {
        "input": "normal(2, 3, 8)",
        "weight": "normal(4, 3, 3, seed=1)",
        "bias": "normal(4, seed=2)",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.conv1d
    F.conv1d = lambda input, weight, bias=None, **kwargs: right(input, weight, None, **kwargs)
