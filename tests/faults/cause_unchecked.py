"""Permute takes a permutation that is too short."""

CAUSE = {
    "title": "permute takes a permutation that is too short",
    "cause": "missing check",
    "op": "permute",
    "feeds": {
        "self": "normal(2, 3, 4)",
    },
    "args": {
        "dims": (1, 0),
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.Tensor.permute

    def permute(self, *dims):
        order = dims[0] if isinstance(dims[0], (list, tuple)) else dims
        return self if len(order) < self.dim() else right(self, order)

    torch.Tensor.permute = permute
