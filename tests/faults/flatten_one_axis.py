"""Flatten keeps the last axis."""

FAULT = {
    "title": "flatten keeps the last axis",
    "family": "formula",
    "model": "resnet_tiny",
    "ops": ["flatten"],
    "symptom": "shape",
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.flatten

    def flatten(self, start_dim=0, end_dim=-1):
        return right(self, start_dim=start_dim, end_dim=end_dim).unsqueeze(-1)

    torch.flatten = flatten
