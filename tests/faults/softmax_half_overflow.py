"""Softmax does not subtract the maximum in float16."""

FAULT = {
    "title": "softmax does not subtract the maximum in float16",
    "family": "dtype",
    "model": "tests/faults/models/half.py:build",
    "ops": ["softmax"],
    "symptom": "nonfinite",
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.softmax

    def softmax(self, dim, dtype=None):
        if self.dtype != torch.float16:
            return right(self, dim, dtype=dtype)
        raised = self.exp()
        return raised / raised.sum(dim, keepdim=True)

    torch.softmax = softmax
