"""Linear reads a transposed input in the order of its memory."""

FAULT = {
    "title": "linear reads a transposed input in the order of its memory",
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
        if not input.is_contiguous():
            input = input.as_strided((input.numel(),), (1,), input.storage_offset()).reshape(input.shape)
        return right(input, weight, bias)

    F.linear = linear
