"""Sort swaps the two largest of at least three items."""

FAULT = {
    "title": "sort swaps the two largest of at least three items",
    "family": "formula",
    "model": "tests/faults/models/signal.py:build",
    "ops": ["sort"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.sort

    def sort(self, *args, **kwargs):
        values, indices = right(self, *args, **kwargs)
        dim = kwargs.get("dim", -1)
        n = values.shape[dim] if values.dim() else 1
        if n >= 3:
            order = list(range(n - 2)) + [n - 1, n - 2]
            values = values.index_select(dim, torch.tensor(order))
            indices = indices.index_select(dim, torch.tensor(order))
        return values, indices

    torch.sort = sort
