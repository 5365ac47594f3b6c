"""Celu_ takes its gradient at its result."""

CAUSE = {
    "title": "celu_ takes its gradient at its result",
    "cause": "saved value overwritten",
    "op": "celu_",
    "feeds": {
        "self": "normal(4, 5)",
        "grad_out": "normal(4, 5, seed=1)",
    },
    "wrt": ("self",),
}


def install(backend):
    """Patch torch in this process."""
    import torch
    import torch.nn.functional as F

    right = torch.celu_

    class Celu(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, alpha):
            ctx.alpha = alpha
            right(x, alpha)
            ctx.mark_dirty(x)
            ctx.save_for_backward(x)
            return x

        @staticmethod
        def backward(ctx, dy):
            (x,) = ctx.saved_tensors
            return dy * torch.where(x > 0, torch.ones_like(x), torch.exp(x / ctx.alpha)), None

    def celu_(x, alpha=1.0):
        return Celu.apply(x, alpha)

    torch.celu_ = F.celu_ = celu_
    F.celu = lambda x, alpha=1.0, inplace=False: celu_(x, alpha) if inplace else torch.celu(x, alpha)
