"""Layer_norm divides the squares by one too few."""

FAULT = {
    "title": "layer_norm divides the squares by one too few",
    "family": "formula",
    "model": "mixer_tiny",
    "ops": ["layer_norm"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.layer_norm

    def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
        n = 1
        for extent in normalized_shape:
            n *= extent
        out = right(input, normalized_shape, None, None, eps)
        out = out * ((n - 1) / n) ** 0.5 if n > 1 else out
        out = out if weight is None else out * weight
        return out if bias is None else out + bias

    F.layer_norm = layer_norm
