"""Matmul refuses two vectors."""

CAUSE = {
    "title": "matmul refuses two vectors",
    "cause": "rank",
    "op": "matmul",
    "feeds": {
        "self": "normal(5)",
        "other": "normal(5, seed=1)",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.matmul

    def matmul(self, other):
        if self.dim() == other.dim() == 1:
            raise RuntimeError("expected a matrix")
        return right(self, other)

    torch.matmul = matmul
    torch.Tensor.matmul = torch.Tensor.__matmul__ = matmul
