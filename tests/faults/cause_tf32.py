"""Matmul rounds its inputs to TF32."""

CAUSE = {
    "title": "matmul rounds its inputs to TF32",
    "cause": "precision policy",
    "op": "matmul",
    "feeds": {
        "self": "normal(8, 32)",
        "other": "normal(32, 8, seed=1)",
    },
}


def install(backend):
    """Patch torch in this process."""
    import torch

    right = torch.matmul

    def cut(x):
        mantissa, exponent = torch.frexp(x)
        return torch.ldexp(torch.round(mantissa * 2048.0), exponent - 11)

    torch.matmul = lambda self, other: right(cut(self), cut(other))
