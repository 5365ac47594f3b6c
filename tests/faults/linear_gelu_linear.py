"""Linear after gelu after linear is wrong."""

FAULT = {
    "title": "linear after gelu after linear is wrong",
    "family": "together",
    "model": "vit_tiny",
    "ops": ["linear", "gelu", "linear"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right, between = F.linear, F.gelu

    def linear(input, weight, bias=None):
        out = right(input, weight, bias)
        if getattr(input, "planted", 0) == 2:
            out = out * 1.01
        out.planted = 1
        return out

    def gelu(self, approximate="none"):
        out = between(self, approximate=approximate)
        if getattr(self, "planted", 0) == 1:
            out.planted = 2
        return out

    F.linear, F.gelu = linear, gelu
