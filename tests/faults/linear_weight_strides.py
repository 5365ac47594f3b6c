"""Linear reads a transposed weight in the order of its memory."""

FAULT = {
    "title": "linear reads a transposed weight in the order of its memory",
    "family": "layout",
    "model": "mixer_tiny",
    "ops": ["linear"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.linear

    def linear(input, weight, bias=None):
        if not weight.is_contiguous():
            weight = weight.as_strided((weight.numel(),), (1,)).reshape(weight.shape)
        return right(input, weight, bias)

    F.linear = linear
