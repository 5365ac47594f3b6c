"""Attention does not scale the scores."""

FAULT = {
    "title": "attention does not scale the scores",
    "family": "formula",
    "model": "vit_tiny",
    "ops": ["scaled_dot_product_attention"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.scaled_dot_product_attention

    def attention(query, key, value, scale=None, **kwargs):
        return right(query, key, value, scale=1.0 if scale is None else scale, **kwargs)

    F.scaled_dot_product_attention = attention
