"""Linear answers in steps of one half in float16."""

FAULT = {
    "title": "linear answers in steps of one half in float16",
    "family": "dtype",
    "model": "tests/faults/models/half.py:build",
    "ops": ["linear"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch
    import torch.nn.functional as F

    right = F.linear

    def linear(input, weight, bias=None):
        out = right(input, weight, bias)
        return (out * 2).round() / 2 if input.dtype == torch.float16 else out

    F.linear = linear
