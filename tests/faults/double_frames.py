"""Gelu raises in one function from dim 5 on, and in another below."""

DOUBLE = {
    "title": "gelu raises in one function from dim 5 on, and in another below",
    "op": "gelu",
    "feeds": {"self": "normal(6, 9)"},
    "first": ("exception", "RuntimeError"),
    "second": ("exception", "RuntimeError"),
}


def install(backend):
    """Patch torch in this process."""
    import torch.nn.functional as F

    def launch():
        raise RuntimeError("refused")

    def check():
        raise RuntimeError("refused")

    def gelu(self, approximate="none"):
        launch() if max(self.shape, default=0) >= 5 else check()

    F.gelu = gelu
