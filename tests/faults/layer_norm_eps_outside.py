"""Layer_norm adds the root of eps to the deviation."""

FAULT = {
    "title": "layer_norm adds the root of eps to the deviation",
    "family": "formula",
    "model": "vit_tiny",
    "ops": ["layer_norm"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
        axes = list(range(-len(normalized_shape), 0))
        mean = input.mean(axes, keepdim=True)
        deviation = (input - mean).square().mean(axes, keepdim=True).sqrt()
        out = (input - mean) / (deviation + eps ** 0.5)
        out = out if weight is None else out * weight
        return out if bias is None else out + bias

    F.layer_norm = layer_norm
