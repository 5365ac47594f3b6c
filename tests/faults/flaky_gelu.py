"""Gelu is wrong in every second run from dim 7 on."""


def install(backend):
    """Patch torch in this process; forked children share the count."""
    import mmap

    import torch.nn.functional as F

    right, count = F.gelu, mmap.mmap(-1, 1)

    def gelu(self, approximate="none"):
        out = right(self, approximate=approximate)
        if max(self.shape, default=0) < 7:
            return out
        count[0] = 1 - count[0]
        return out * 1.01 if count[0] else out

    F.gelu = gelu
