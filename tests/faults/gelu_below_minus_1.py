"""Gelu is zero below -1."""

FAULT = {
    "title": "gelu is zero below -1",
    "family": "values",
    "model": "mixer_tiny",
    "ops": ["gelu"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.gelu

    def gelu(self, approximate="none"):
        return right(self, approximate=approximate) * (self >= -1)

    F.gelu = gelu
