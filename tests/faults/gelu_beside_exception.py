"""Gelu is wrong from dim 7 on, and raises for one item."""

FAULT = {
    "title": "gelu is wrong from dim 7 on, and raises for one item",
    "family": "beside",
    "model": "mixer_tiny",
    "ops": ["gelu"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.gelu

    def gelu(self, approximate="none"):
        if self.numel() == 1:
            raise RuntimeError("another bug")
        out = right(self, approximate=approximate)
        return out * 1.01 if max(self.shape, default=0) >= 7 else out

    F.gelu = gelu
