"""Group_norm takes 1e-2 for every eps."""

CAUSE = {
    "title": "group_norm takes 1e-2 for every eps",
    "cause": "epsilon",
    "op": "group_norm",
    "feeds": {
        "input": "normal(2, 6, 5)",
        "weight": "positive(6)",
        "bias": "normal(6, seed=1)",
    },
    "args": {
        "num_groups": 3,
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    right = F.group_norm

    def group_norm(input, num_groups, weight=None, bias=None, eps=1e-5):
        return right(input, num_groups, weight, bias, 1e-2)

    F.group_norm = group_norm
