"""Matmul answers with the transpose of a square result."""

CAUSE = {
    "title": "matmul answers with the transpose of a square result",
    "cause": "transposed",
    "op": "matmul",
    "feeds": {
        "self": "normal(4, 6)",
        "other": "normal(6, 4, seed=1)",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.matmul
    torch.matmul = lambda self, other: right(self, other).transpose(-1, -2).contiguous()
