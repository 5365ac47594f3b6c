"""Layer_norm reads a transposed input in the order of its memory."""

FAULT = {
    "title": "layer_norm reads a transposed input in the order of its memory",
    "family": "layout",
    "model": "mixer_tiny",
    "ops": ["layer_norm"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.layer_norm

    def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
        if not input.is_contiguous():
            input = input.as_strided((input.numel(),), (1,), input.storage_offset()).reshape(input.shape)
        return right(input, normalized_shape, weight, bias, eps)

    F.layer_norm = layer_norm
