"""Linear adds up in steps of 1/16 in float16."""

FAULT = {
    "title": "linear adds up in steps of 1/16 in float16",
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
        return (out * 16).round() / 16 if input.dtype == torch.float16 else out

    F.linear = linear
