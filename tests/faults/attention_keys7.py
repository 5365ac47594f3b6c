"""Attention ignores the last key when there are at least 7."""

FAULT = {
    "title": "attention ignores the last key when there are at least 7",
    "family": "size",
    "model": "vit_tiny",
    "ops": ["scaled_dot_product_attention"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.scaled_dot_product_attention

    def attention(query, key, value, **kwargs):
        if key.shape[-2] >= 7:
            key, value = key[..., :-1, :], value[..., :-1, :]
        return right(query, key, value, **kwargs)

    F.scaled_dot_product_attention = attention
