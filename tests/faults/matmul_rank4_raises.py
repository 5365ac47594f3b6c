"""Matmul raises for four axes."""

FAULT = {
    "title": "matmul raises for four axes",
    "family": "failure",
    "model": "bert_tiny",
    "ops": ["matmul"],
    "symptom": "exception",
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.matmul

    def matmul(self, other):
        if self.dim() >= 4:
            raise NotImplementedError("matmul of %d axes" % self.dim())
        return right(self, other)

    torch.matmul = matmul
