"""Contiguous keeps the order of the memory."""

FAULT = {
    "title": "contiguous keeps the order of the memory",
    "family": "layout",
    "model": "bert_tiny",
    "ops": ["contiguous"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.Tensor.contiguous

    def contiguous(self):
        if self.is_contiguous():
            return right(self)
        return self.as_strided((self.numel(),), (1,), self.storage_offset()).reshape(self.shape)

    torch.Tensor.contiguous = contiguous
