"""OneFlow's flat copy from NumPy: the bug that founded the project.

`Tensor.copy_`, and `Module.load_state_dict` on top of it, moved `count * itemsize` bytes from the array's data pointer
and never read its strides. A transposed 2x2 weight arrived transposed; a transposed 2x3 weight arrived scrambled; no
exception, no warning. Repaired in OneFlow's pull request #6117, merged 1 September 2021.

Element i of the destination becomes the item found i items after the source's data pointer. What historically read
outside the source's memory (reversed and broadcast views) is refused here: a replay never does what is undefined.

Runs inside a framework's interpreter: Python 3.8 syntax, no import at the top.
"""

REPLAY = {
    "name": "flat-copy",
    "title": "copying a NumPy array into a tensor ignores the array's strides",
    "history": "OneFlow before its fix of September 2021 (release 0.4.0 and the nightly builds up to 2021-08-31)",
}


def install(backend):
    """Put the old behaviour on top of the framework that `backend` (a loaded backends/<name>.py) describes.

    Patched: torch `Tensor.copy_` from a tensor on the CPU, Paddle `Tensor.set_value` and OneFlow `Tensor.copy_` from
    an array; each framework's way to load a state dict goes through these. A tensor source was dense in those days and
    stays right on Paddle and OneFlow; torch copies from nothing but tensors, so there a tensor stands for the array.
    """
    _INSTALL[backend.BACKEND["import"]]()


def _torch():
    import torch

    original = torch.Tensor.copy_

    def copy_(self, src, non_blocking=False):
        if not isinstance(src, torch.Tensor) or src.device.type != "cpu" or self.device.type != "cpu":
            return original(self, src, non_blocking)
        assert src.dtype == self.dtype
        assert src.shape == self.shape
        if src.numel() and not src.is_contiguous():
            room = src.untyped_storage().nbytes() // src.element_size() - src.storage_offset()
            _check(src.shape, src.stride(), room)
            src = src.as_strided(src.shape, _dense(src.shape))
        return original(self, src, non_blocking)

    torch.Tensor.copy_ = copy_


def _paddle():
    import numpy
    import paddle

    original = paddle.Tensor.set_value

    def set_value(self, value):
        return original(self, _checked(self, value) if isinstance(value, numpy.ndarray) else value)

    paddle.Tensor.set_value = set_value


def _oneflow():
    import numpy
    import oneflow

    original = oneflow.Tensor.copy_

    def copy_(self, other):
        return original(self, _checked(self, other) if isinstance(other, numpy.ndarray) else other)

    oneflow.Tensor.copy_ = copy_


_INSTALL = {"torch": _torch, "paddle": _paddle, "oneflow": _oneflow}


def _checked(tensor, array):
    """The historical checks, bare as they were, and the array as the flat copy would read it."""
    name = str(tensor.dtype).split(".")[-1]
    assert array.dtype.name == ("uint16" if name == "bfloat16" else name)
    assert array.shape == tuple(tensor.shape)
    if array.flags.c_contiguous or array.size == 0:
        return array
    import numpy

    root = array
    while isinstance(root.base, numpy.ndarray):
        root = root.base
    end = root.ctypes.data + sum((n - 1) * max(s, 0) for n, s in zip(root.shape, root.strides)) + root.itemsize
    strides = [s // array.itemsize for s in array.strides]
    _check(array.shape, strides, (end - array.ctypes.data) // array.itemsize)
    steps = [s * array.itemsize for s in _dense(array.shape)]
    return numpy.lib.stride_tricks.as_strided(array, array.shape, steps, writeable=False).copy()


def _check(shape, strides, room):
    """Refuse what would read outside the source's memory.

    Args:
        shape: sizes of the source.
        strides: its strides, in items.
        room: items from its data pointer to the end of its memory.
    """
    count = 1
    for extent in shape:
        count *= extent
    if any(n > 1 and s <= 0 for n, s in zip(shape, strides)) or count > room:
        raise RuntimeError(
            "flat-copy: expected a source whose first %d items lie in its own memory, found shape %s, strides "
            "%s and %d items; a reversed, broadcast or cut view read foreign memory then, "
            "so copy it to a dense array first"
            % (count, list(shape), list(strides), max(room, 0))
        )


def _dense(shape):
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return strides[::-1]
