"""The exponential of a float64 is computed in float32."""

CAUSE = {
    "title": "the exponential of a float64 is computed in float32",
    "cause": "precision policy",
    "op": "exp",
    "feeds": {
        "self": "normal(4, 5, of='float64')",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.exp
    torch.exp = lambda self: right(self.float()).to(self.dtype)
