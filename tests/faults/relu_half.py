"""Relu keeps a hundredth of negative numbers in float16."""

FAULT = {
    "title": "relu keeps a hundredth of negative numbers in float16",
    "family": "dtype",
    "model": "tests/faults/models/half.py:build",
    "ops": ["relu"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch
    import torch.nn.functional as F

    right = F.relu

    def relu(self):
        return torch.where(self < 0, self * 0.01, self) if self.dtype == torch.float16 else right(self)

    F.relu = relu
