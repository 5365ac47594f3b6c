"""Linear runs in bfloat16."""

CAUSE = {
    "title": "linear runs in bfloat16",
    "cause": "precision policy",
    "op": "linear",
    "feeds": {
        "input": "normal(6, 32)",
        "weight": "normal(8, 32, seed=1)",
        "bias": "normal(8, seed=2)",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch
    import torch.nn.functional as F

    right = F.linear

    def linear(input, weight, bias=None):
        half = torch.bfloat16
        out = right(input.to(half), weight.to(half), None if bias is None else bias.to(half))
        return out.to(input.dtype)

    F.linear = linear
