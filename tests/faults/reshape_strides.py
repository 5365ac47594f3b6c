"""Reshape of a transposed tensor keeps the order of its memory."""

FAULT = {
    "title": "reshape of a transposed tensor keeps the order of its memory",
    "family": "layout",
    "model": "vit_tiny",
    "ops": ["reshape"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.Tensor.reshape

    def reshape(self, *shape):
        if not self.is_contiguous():
            self = self.as_strided((self.numel(),), (1,), self.storage_offset())
        return right(self, *shape)

    torch.Tensor.reshape = reshape
