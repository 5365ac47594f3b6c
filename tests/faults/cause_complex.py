"""Exp of complex numbers works in single precision."""

CAUSE = {
    "title": "exp of complex numbers works in single precision",
    "cause": "precision policy",
    "op": "exp",
    "feeds": {
        "self": "normal(4, 5, of='complex128')",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.exp
    torch.exp = lambda x: right(x.to(torch.complex64)).to(x.dtype) if x.dtype == torch.complex128 else right(x)
