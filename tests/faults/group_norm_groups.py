"""Group_norm takes all channels for one group."""

FAULT = {
    "title": "group_norm takes all channels for one group",
    "family": "formula",
    "model": "tests/faults/models/image.py:build",
    "ops": ["group_norm"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.group_norm

    def group_norm(input, num_groups, **kwargs):
        return right(input, 1, **kwargs)

    F.group_norm = group_norm
