"""Softmax never answers for at least 5 items."""

FAULT = {
    "title": "softmax never answers for at least 5 items",
    "family": "failure",
    "model": "bert_tiny",
    "ops": ["softmax"],
    "symptom": "hang",
}


def install(backend):
    """Patch torch in this process."""
    import time

    import torch

    right = torch.softmax

    def softmax(self, dim, dtype=None):
        while self.shape[dim] >= 5:
            time.sleep(1)
        return right(self, dim, dtype=dtype)

    torch.softmax = softmax
