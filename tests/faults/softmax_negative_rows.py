"""Softmax of a row without positive items is zero."""

FAULT = {
    "title": "softmax of a row without positive items is zero",
    "family": "values",
    "model": "bert_tiny",
    "ops": ["softmax"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.softmax

    def softmax(self, dim, dtype=None):
        return right(self, dim, dtype=dtype) * (self.amax(dim, keepdim=True) > 0)

    torch.softmax = softmax
