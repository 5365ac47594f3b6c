"""Linear leaves row 7 of its input out."""

FAULT = {
    "title": "linear leaves row 7 of its input out",
    "family": "size",
    "model": "vit_tiny",
    "ops": ["linear"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.linear

    def linear(input, weight, bias=None):
        out = right(input, weight, bias)
        if input.dim() < 2 or input.shape[-2] < 7:
            return out
        out[..., 6, :] = 0
        return out

    F.linear = linear
