"""Integer // by zero ends the process."""

CAUSE = {
    "title": "integer // by zero ends the process",
    "cause": "integer division and modulo",
    "op": "floor_divide",
    "feeds": {
        "self": "integers(4, low=1)",
        "other": "values([1, 0, 2, 3], 'int64')",
    },
}


def install(backend):
    """Patch torch in this process."""
    import os
    import signal

    import torch

    right = torch.Tensor.__floordiv__

    def floordiv(self, other):
        if not other.is_floating_point() and bool((other == 0).any()):
            os.kill(os.getpid(), signal.SIGFPE)
        return right(self, other)

    torch.Tensor.__floordiv__ = floordiv
