"""Gelu of what addmm made is one percent too large, also behind a view."""


def install(backend):
    """Patch torch in this process."""
    import torch
    import torch.nn.functional as F

    right, before = F.gelu, torch.addmm

    class Product(torch.Tensor):
        """What addmm made, and every view of it."""

        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            out = super().__torch_function__(function, types, args, kwargs or {})
            name = getattr(function, "__name__", str(function))
            if isinstance(out, Product) and "view" not in name and "reshape" not in name:
                return out.as_subclass(torch.Tensor)
            return out

    def addmm(self, mat1, mat2, beta=1, alpha=1):
        plain = [tensor.as_subclass(torch.Tensor) for tensor in (self, mat1, mat2)]
        return before(*plain, beta=beta, alpha=alpha).as_subclass(Product)

    def gelu(self, approximate="none"):
        out = right(self.as_subclass(torch.Tensor), approximate=approximate)
        return out * 1.01 if isinstance(self, Product) else out

    torch.addmm, F.gelu = addmm, gelu
