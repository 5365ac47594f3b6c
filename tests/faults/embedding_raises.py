"""Embedding raises from index 7 on."""

FAULT = {
    "title": "embedding raises from index 7 on",
    "family": "failure",
    "model": "bert_tiny",
    "ops": ["embedding"],
    "symptom": "exception",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.embedding

    def embedding(indices, weight, **kwargs):
        if int(indices.max()) >= 7:
            raise IndexError("index %d is out of range" % int(indices.max()))
        return right(indices, weight, **kwargs)

    F.embedding = embedding
