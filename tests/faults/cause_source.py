"""Abs reads a view in the order of its memory."""

CAUSE = {
    "title": "abs reads a view in the order of its memory",
    "cause": "source strides ignored",
    "op": "abs",
    "feeds": {
        "self": "transposed(normal(3, 4))",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.abs
    torch.abs = lambda self: right(self.as_strided((self.numel(),), (1,)).reshape(self.shape))
