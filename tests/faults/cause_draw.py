"""Exp is multiplied with a draw of the generator."""

CAUSE = {
    "title": "exp is multiplied with a draw of the generator",
    "cause": "random draw not pinned",
    "op": "exp",
    "feeds": {
        "self": "normal(4, 5)",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.exp
    torch.exp = lambda self: right(self) * (1.0 + 0.1 * torch.rand(self.shape))
