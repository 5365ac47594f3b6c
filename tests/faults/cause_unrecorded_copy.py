"""What index_fill writes to its copy is not recorded."""

CAUSE = {
    "title": "what index_fill writes is not recorded",
    "cause": "write not recorded",
    "op": "index_fill",
    "feeds": {
        "self": "normal(4, 5)",
        "index": "values([1, 3], 'int64')",
        "grad_out": "normal(4, 5, seed=1)",
    },
    "args": {
        "dim": 1,
        "value": 2.0,
    },
    "wrt": ("self",),
}


def install(backend):
    """Patch torch in this process."""
    import torch

    def index_fill(self, dim, index, value):
        made = self.clone()
        made.detach().index_fill_(dim, index, value)
        return made

    torch.index_fill = index_fill
    torch.Tensor.index_fill = index_fill
