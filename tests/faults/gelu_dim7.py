"""Gelu is one percent too large when a dim is at least 7."""

FAULT = {
    "title": "gelu is one percent too large when a dim is at least 7",
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
        return out * 1.01 if max(self.shape, default=0) >= 7 else out

    F.gelu = gelu
