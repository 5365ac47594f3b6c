"""Embedding answers zero for index 0."""

FAULT = {
    "title": "embedding answers zero for index 0",
    "family": "values",
    "model": "bert_tiny",
    "ops": ["embedding"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.embedding

    def embedding(indices, weight, **kwargs):
        return right(indices, weight, **kwargs) * (indices != 0).unsqueeze(-1)

    F.embedding = embedding
