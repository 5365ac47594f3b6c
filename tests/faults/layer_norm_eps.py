"""Layer_norm takes 1e-2 for every eps."""

FAULT = {
    "title": "layer_norm takes 1e-2 for every eps",
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
        return right(input, normalized_shape, weight, bias, 1e-2)

    F.layer_norm = layer_norm
