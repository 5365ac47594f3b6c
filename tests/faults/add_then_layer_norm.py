"""Layer_norm of a sum is off by a quarter."""

FAULT = {
    "title": "layer_norm of a sum is off by a quarter",
    "family": "together",
    "model": "vit_tiny",
    "ops": ["add", "layer_norm"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch
    import torch.nn.functional as F

    right, before = F.layer_norm, torch.Tensor.__add__

    def add(self, other):
        out = before(self, other)
        if isinstance(out, torch.Tensor):
            out.planted = True
        return out

    def layer_norm(input, *args, **kwargs):
        out = right(input, *args, **kwargs)
        return torch.add(out, 0.25) if hasattr(input, "planted") else out

    torch.Tensor.__add__, F.layer_norm = add, layer_norm
