"""Add reads a transposed left side in the order of its memory."""

FAULT = {
    "title": "add reads a transposed left side in the order of its memory",
    "family": "layout",
    "model": "mixer_tiny",
    "ops": ["add"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.Tensor.__add__

    def add(self, other):
        if not self.is_contiguous():
            flat = self.as_strided((self.numel(),), (1,), self.storage_offset())
            return right(flat.reshape(self.shape), other)
        return right(self, other)

    torch.Tensor.__add__ = add
