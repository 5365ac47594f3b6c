"""The gradient of prod divides by its input."""

CAUSE = {
    "title": "the gradient of prod divides by its input",
    "cause": "division by zero",
    "op": "prod",
    "feeds": {
        "self": "values([0.0, 2.0, 3.0])",
        "grad_out": "values(0.5)",
    },
    "wrt": ("self",),
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.prod

    class Prod(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = right(x)
            ctx.save_for_backward(x, y)
            return y

        @staticmethod
        def backward(ctx, dy):
            x, y = ctx.saved_tensors
            return dy * y / x

    torch.prod = lambda x, *rest, **more: right(x, *rest, **more) if rest or more else Prod.apply(x)
    torch.Tensor.prod = torch.prod
