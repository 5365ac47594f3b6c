"""Embedding reads row 0 for every index from 7 on."""

FAULT = {
    "title": "embedding reads row 0 for every index from 7 on",
    "family": "size",
    "model": "bert_tiny",
    "ops": ["embedding"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.embedding

    def embedding(indices, weight, **kwargs):
        return right(indices * (indices < 7), weight, **kwargs)

    F.embedding = embedding
