"""Relu never writes its zeros: right where the memory held zeros before, as in every second run."""


def install(backend):
    """Patch torch in this process; forked children share the count."""
    import ctypes
    import mmap

    import torch

    libc, count = ctypes.CDLL(None), mmap.mmap(-1, 1)
    libc.malloc.restype, libc.malloc.argtypes, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]

    def relu(self):
        count[0] = 1 - count[0]
        # The allocator writes its own notes into the first bytes.
        size = 64 + max(4096, 4 * self.numel())
        before = libc.malloc(size)
        ctypes.memset(before, 7 * count[0], size)
        libc.free(before)
        # What was freed is what the next request of this size gets.
        fresh = (ctypes.c_char * size).from_address(libc.malloc(size))
        out = torch.frombuffer(fresh, dtype=torch.float32, offset=64)[: self.numel()].reshape(self.shape).clone()
        out[self > 0] = self[self > 0]
        return out

    torch.relu = relu
