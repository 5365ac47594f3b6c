"""Gelu is wrong when its last dim is a multiple of 5: not monotone in the size."""

FAULT = {
    "title": "gelu is wrong when its last dim is a multiple of 5: not monotone in the size",
    "family": "size",
    "model": "mixer_tiny",
    "ops": ["gelu"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.gelu

    def gelu(self, approximate="none"):
        out = right(self, approximate=approximate)
        return out + 0.25 if self.dim() and self.shape[-1] % 5 == 0 else out

    F.gelu = gelu
