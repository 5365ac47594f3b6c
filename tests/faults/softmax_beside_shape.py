"""Softmax is wrong for at least 3 items, and flattens two axes."""

FAULT = {
    "title": "softmax is wrong for at least 3 items, and flattens two axes",
    "family": "beside",
    "model": "bert_tiny",
    "ops": ["softmax"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.softmax

    def softmax(self, dim, dtype=None):
        out = right(self, dim, dtype=dtype)
        if self.dim() == 2:
            return out.reshape(-1)
        return out * 1.01 if self.shape[dim] >= 3 else out

    torch.softmax = softmax
