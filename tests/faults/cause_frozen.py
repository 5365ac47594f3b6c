"""Linear fails if its weight is frozen and its input is not."""

CAUSE = {
    "title": "linear fails if its weight is frozen and its input is not",
    "cause": "frozen input",
    "op": "linear",
    "feeds": {
        "input": "normal(4, 5)",
        "weight": "normal(3, 5, seed=1)",
        "grad_out": "normal(4, 3, seed=2)",
    },
    "wrt": ("input",),
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.linear

    def linear(input, weight, bias=None):
        if input.requires_grad and not weight.requires_grad:
            raise RuntimeError("no gradient buffer for the weight")
        return right(input, weight, bias)

    F.linear = linear
