"""Linear adds its bias twice."""

FAULT = {
    "title": "linear adds its bias twice",
    "family": "formula",
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
        return out if bias is None else out + bias

    F.linear = linear
