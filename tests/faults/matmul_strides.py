"""Matmul reads a transposed right side in the order of its memory."""

FAULT = {
    "title": "matmul reads a transposed right side in the order of its memory",
    "family": "layout",
    "model": "bert_tiny",
    "ops": ["matmul"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.matmul

    def matmul(self, other):
        if other.dim() > 1 and not other.is_contiguous():
            other = other.as_strided((other.numel(),), (1,), other.storage_offset()).reshape(other.shape)
        return right(self, other)

    torch.matmul = matmul
