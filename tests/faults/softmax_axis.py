"""Softmax of a tensor with four axes runs along the second."""

FAULT = {
    "title": "softmax of a tensor with four axes runs along the second",
    "family": "formula",
    "model": "bert_tiny",
    "ops": ["softmax"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.softmax

    def softmax(self, dim, dtype=None):
        return right(self, 1 if self.dim() == 4 else dim, dtype=dtype)

    torch.softmax = softmax
