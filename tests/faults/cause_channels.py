"""Conv2d stores its output channels in reverse order."""

CAUSE = {
    "title": "conv2d stores its output channels in reverse order",
    "cause": "permuted channels",
    "op": "conv2d",
    "feeds": {
        "input": "normal(2, 3, 5, 5)",
        "weight": "normal(4, 3, 3, 3, seed=1)",
        "bias": "normal(4, seed=2)",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.conv2d
    F.conv2d = lambda *args, **kwargs: right(*args, **kwargs).flip(1)
