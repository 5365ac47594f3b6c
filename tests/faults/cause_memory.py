"""Exp never writes its last elements."""

CAUSE = {
    "title": "exp never writes its last elements",
    "cause": "uninitialised memory",
    "op": "exp",
    "feeds": {
        "self": "normal(4, 40)",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.exp

    def exp(self):
        out = torch.empty(self.shape, dtype=self.dtype)
        count = self.numel() - 3
        out.view(-1)[:count] = right(self).reshape(-1)[:count]
        return out

    torch.exp = exp
