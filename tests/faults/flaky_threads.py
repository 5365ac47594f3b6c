"""Gelu is wrong from dim 7 on: with two threads in every second run, with one in all of them."""


def install(backend):
    """Patch torch in this process; forked children share the count."""
    import mmap

    import torch
    import torch.nn.functional as F

    right, count = F.gelu, mmap.mmap(-1, 1)

    def gelu(self, approximate="none"):
        out = right(self, approximate=approximate)
        if max(self.shape, default=0) < 7:
            return out
        count[0] = 1 - count[0]
        return out * 1.01 if count[0] or torch.get_num_threads() == 1 else out

    F.gelu = gelu
