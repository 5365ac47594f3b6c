"""The sum of nothing is one."""

CAUSE = {
    "title": "the sum of nothing is one",
    "cause": "special path of size 0 or 1",
    "op": "sum",
    "feeds": {
        "self": "normal(3, 0)",
    },
    "args": {
        "dim": (1,),
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.Tensor.sum

    def total(self, *args, **kwargs):
        out = right(self, *args, **kwargs)
        return out + 1 if self.numel() == 0 else out

    torch.Tensor.sum = total
    wrong = torch.sum

    def function(self, *args, **kwargs):
        out = wrong(self, *args, **kwargs)
        return out + 1 if self.numel() == 0 else out

    torch.sum = function
