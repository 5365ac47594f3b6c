"""Gelu behind linear is wrong, and gelu alone is wrong in another way for few elements."""

DOUBLE = {
    "title": "gelu behind linear is wrong, and gelu alone is wrong in another way for few elements",
    "op": "linear, gelu",
    "feeds": {"input": "normal(6, 9)", "weight": "normal(7, 9, seed=1)"},
    "first": ("value", ""),
    "second": ("value", ""),
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    linear_right, gelu_right = F.linear, F.gelu

    def linear(input, weight, bias=None):
        out = linear_right(input, weight, bias)
        out.of_linear = True
        return out

    def gelu(self, approximate="none"):
        out = gelu_right(self, approximate=approximate)
        if getattr(self, "of_linear", False):
            return out * 1.01 if max(self.shape) >= 5 else out
        return out * 1.02 if self.numel() < 40 else out

    F.linear, F.gelu = linear, gelu
