"""Abs flushes subnormal numbers to zero."""

CAUSE = {
    "title": "abs flushes subnormal numbers to zero",
    "cause": "subnormal flush",
    "op": "abs",
    "feeds": {
        "self": "values([1e-40, -3e-39, 1.0, -2.0])",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.abs

    def absolute(self):
        out = right(self)
        return torch.where(out < torch.finfo(out.dtype).tiny, torch.zeros_like(out), out)

    torch.abs = absolute
