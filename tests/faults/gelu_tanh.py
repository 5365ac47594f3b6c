"""Gelu always takes the approximation by tanh."""

FAULT = {
    "title": "gelu always takes the approximation by tanh",
    "family": "formula",
    "model": "vit_tiny",
    "ops": ["gelu"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.gelu

    def gelu(self, approximate="none"):
        return right(self, approximate="tanh")

    F.gelu = gelu
