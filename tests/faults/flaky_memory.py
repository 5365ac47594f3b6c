"""Relu never writes its zeros: right where the memory held zeros before, as in every second run."""


def install(backend):
    """Patch torch in this process; forked children share the count."""
    import ctypes
    import mmap

    import torch

    libc, count = ctypes.CDLL(None), mmap.mmap(-1, 1)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]

    def relu(self):
        count[0] = 1 - count[0]
        size = 64 + max(4096, 4 * self.numel())
        fresh = (ctypes.c_char * size).from_address(libc.malloc(size))
        filled = len(set(fresh.raw[64:])) == 1 and fresh.raw[64] not in (0, 7)
        if not filled:
            # As the last owner left it; which chunk the allocator hands out depends on all that the process did before.
            ctypes.memset(fresh, 7 * count[0], size)
        # The allocator writes its own notes into the first bytes.
        out = torch.frombuffer(fresh, dtype=torch.float32, offset=64)[: self.numel()].reshape(self.shape).clone()
        out[self > 0] = self[self > 0]
        return out

    torch.relu = relu
