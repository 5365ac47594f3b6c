"""Cat writes the sixth item twice when the result has at least 7."""

FAULT = {
    "title": "cat writes the sixth item twice when the result has at least 7",
    "family": "size",
    "model": "vit_tiny",
    "ops": ["cat"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.cat

    def cat(tensors, dim=0):
        out = right(tensors, dim=dim)
        if out.shape[dim] >= 7:
            out.narrow(dim, 6, 1).copy_(out.narrow(dim, 5, 1).clone())
        return out

    torch.cat = cat
