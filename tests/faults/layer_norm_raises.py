"""Layer_norm raises for at least 7 items."""

FAULT = {
    "title": "layer_norm raises for at least 7 items",
    "family": "failure",
    "model": "mixer_tiny",
    "ops": ["layer_norm"],
    "symptom": "exception",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.layer_norm

    def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-5):
        if normalized_shape[-1] >= 7:
            raise RuntimeError("no kernel for %d items" % normalized_shape[-1])
        return right(input, normalized_shape, weight, bias, eps)

    F.layer_norm = layer_norm
