"""Xlogy refuses integers."""

CAUSE = {
    "title": "xlogy refuses integers",
    "cause": "refused input",
    "op": "xlogy",
    "feeds": {
        "self": "integers(4, 5)",
        "other": "integers(4, 5, low=1, seed=1)",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.xlogy

    def xlogy(x, y):
        if not x.is_floating_point():
            raise TypeError("only floating-point numbers")
        return right(x, y)

    torch.xlogy = torch.special.xlogy = xlogy
