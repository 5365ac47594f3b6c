"""Add raises where a side is broadcast."""

FAULT = {
    "title": "add raises where a side is broadcast",
    "family": "failure",
    "model": "vit_tiny",
    "ops": ["add"],
    "symptom": "exception",
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.Tensor.__add__

    def add(self, other):
        if isinstance(other, torch.Tensor) and self.shape != other.shape:
            raise RuntimeError("shapes %s and %s differ" % (tuple(self.shape), tuple(other.shape)))
        return right(self, other)

    torch.Tensor.__add__ = add
