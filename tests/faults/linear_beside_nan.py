"""Linear is wrong for at least 5 products, and nan for one output."""

FAULT = {
    "title": "linear is wrong for at least 5 products, and nan for one output",
    "family": "beside",
    "model": "mixer_tiny",
    "ops": ["linear"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.linear

    def linear(input, weight, bias=None):
        out = right(input, weight, bias)
        if out.dim() and out.shape[-1] == 1:
            return out * float("nan")
        return out * 1.01 if input.shape[-1] >= 5 else out

    F.linear = linear
