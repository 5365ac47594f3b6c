"""The third gelu along the flow is wrong, whatever lies between."""

FAULT = {
    "title": "the third gelu along the flow is wrong, whatever lies between",
    "family": "together",
    "model": "mixer_tiny",
    "ops": ["gelu", "gelu", "gelu"],
    "symptom": "value",
}


def install(backend):
    """Patch torch in this process."""
    import torch
    import torch.nn.functional as F

    right = F.gelu

    class Deep(torch.Tensor):
        """A tensor that remembers how many gelus its values went through."""

        depth = 0

        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            out = super().__torch_function__(function, types, args, kwargs or {})
            depth = max((arg.depth for arg in args if isinstance(arg, Deep)), default=0)
            for made in out if isinstance(out, (tuple, list)) else [out]:
                if isinstance(made, Deep):
                    made.depth = depth
            return out

    def gelu(self, approximate="none"):
        depth = getattr(self, "depth", 0) + 1
        out = right(self.as_subclass(torch.Tensor), approximate=approximate)
        out = (out * 1.01 if depth > 2 else out).as_subclass(Deep)
        out.depth = depth
        return out

    F.gelu = gelu
