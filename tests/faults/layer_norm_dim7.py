"""Layer_norm leaves the seventh item unscaled."""

FAULT = {
    "title": "layer_norm leaves the seventh item unscaled",
    "family": "size",
    "model": "bert_tiny",
    "ops": ["layer_norm"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.layer_norm

    def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
        out = right(input, normalized_shape, weight, bias, eps)
        if input.shape[-1] >= 7:
            out[..., 6] = input[..., 6]
        return out

    F.layer_norm = layer_norm
