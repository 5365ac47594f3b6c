"""Softmax forgets the last item in its sum when there are at least 7."""

FAULT = {
    "title": "softmax forgets the last item in its sum when there are at least 7",
    "family": "size",
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
        n = self.shape[dim]
        return out / (1 - out.narrow(dim, n - 1, 1)) if n >= 7 else out

    torch.softmax = softmax
