"""A negated integer is a float32."""

CAUSE = {
    "title": "a negated integer is a float32",
    "cause": "dtype promotion",
    "op": "neg",
    "feeds": {
        "self": "integers(6, low=1)",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.Tensor.__neg__
    torch.Tensor.__neg__ = lambda self: right(self) if self.is_floating_point() else right(self.float())
