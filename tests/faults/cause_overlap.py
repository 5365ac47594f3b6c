"""Unfold keeps one of the gradients that meet in an element."""

CAUSE = {
    "title": "unfold keeps one of the gradients that meet in an element",
    "cause": "accumulation lost",
    "op": "unfold",
    "feeds": {
        "self": "normal(3, 7)",
        "grad_out": "normal(3, 3, 3, seed=1)",
    },
    "args": {
        "dimension": 1,
        "size": 3,
        "step": 2,
    },
    "wrt": ("self",),
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.Tensor.unfold

    class Unfold(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, axis, size, step):
            ctx.about = x.shape, axis, size, step
            return right(x, axis, size, step).clone()

        @staticmethod
        def backward(ctx, dy):
            shape, axis, size, step = ctx.about
            dx = torch.zeros(shape, dtype=dy.dtype)
            places = right(torch.arange(dx.numel()).reshape(shape), axis, size, step)
            dx.view(-1)[places.reshape(-1)] = dy.reshape(-1)
            return dx, None, None, None

    torch.Tensor.unfold = lambda x, dimension, size, step: Unfold.apply(x, dimension, size, step)
