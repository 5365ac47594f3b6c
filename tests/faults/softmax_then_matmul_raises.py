"""Matmul refuses what softmax made."""

FAULT = {
    "title": "matmul refuses what softmax made",
    "family": "together",
    "model": "bert_tiny",
    "ops": ["softmax", "matmul"],
    "symptom": "exception",
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right, before = torch.matmul, torch.softmax

    def softmax(self, dim, dtype=None):
        out = before(self, dim, dtype=dtype)
        out.planted = True
        return out

    def matmul(self, other):
        if hasattr(self, "planted"):
            raise RuntimeError("weights of an unknown origin")
        return right(self, other)

    torch.softmax, torch.matmul = softmax, matmul
