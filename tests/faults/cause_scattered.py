"""Exp stores its elements in another order."""

CAUSE = {
    "title": "exp stores its elements in another order",
    "cause": "elements in another order",
    "op": "exp",
    "feeds": {
        "self": "normal(3, 5)",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.exp

    def exp(self):
        out = right(self).reshape(-1)
        order = (torch.arange(out.numel()) * 7 + 3) % out.numel()
        return out[order].reshape(self.shape)

    torch.exp = exp
