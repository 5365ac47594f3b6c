"""The variance is the mean of squares minus the square of the mean."""

CAUSE = {
    "title": "the variance is the mean of squares minus the square of the mean",
    "cause": "ill-conditioned step",
    "op": "var.correction",
    "feeds": {
        "self": "values(__import__('numpy').random.RandomState(0).standard_normal((4, 64)) + 1000.0)",
    },
    "args": {
        "dim": (1,),
        "correction": 1,
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    def var(self, dim=None, correction=1, keepdim=False, unbiased=None):
        axes = tuple(range(self.dim())) if dim is None else tuple(dim)
        n = 1
        for axis in axes:
            n *= self.shape[axis]
        square = (self * self).mean(axes, keepdim=keepdim) - self.mean(axes, keepdim=keepdim) ** 2
        return square * (n / (n - correction))

    torch.var = var
