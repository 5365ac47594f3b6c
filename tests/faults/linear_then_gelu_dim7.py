"""Gelu of what linear made is wrong when a dim is at least 7."""

FAULT = {
    "title": "gelu of what linear made is wrong when a dim is at least 7",
    "family": "together",
    "model": "vit_tiny",
    "ops": ["linear", "gelu"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right, before = F.gelu, F.linear

    def linear(input, weight, bias=None):
        out = before(input, weight, bias)
        out.planted = True
        return out

    def gelu(self, approximate="none"):
        out = right(self, approximate=approximate)
        return out * 1.01 if hasattr(self, "planted") and max(self.shape, default=0) >= 7 else out

    F.linear, F.gelu = linear, gelu
