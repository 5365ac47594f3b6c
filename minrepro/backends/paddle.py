"""PaddlePaddle on the CPU, dynamic graph.

Read by host and worker; see `backends/torch.py` for the contract.
"""

BACKEND = {
    "package": "paddlepaddle",
    "import": "paddle",
    "title": "Paddle",
    "tracker": "paddle",
    "python": ">=3.8",
    "imports": {"paddle": "import paddle", "F": "import paddle.nn.functional as F"},
    "dtypes": {
        name: repr(name)
        for name in "float32 int64 bool float64 float16 bfloat16 int32 int16 int8 uint8 complex64 complex128".split()
    },
    "literal": "paddle.to_tensor({data}, dtype={dtype})",
    "implied": ("float32", "int64", "bool"),
    "zeros": "paddle.zeros({shape}, dtype={dtype})",
    "from_numpy": "paddle.to_tensor({array})",
    "to_numpy": "{tensor}.numpy()",
    "transpose": "{x}.t()",
    "permute": "{x}.transpose({order})",
    "slice": "{x}[{index}]",
    "expand": "{x}.expand({shape})",
    "strided": "{x}.as_strided({shape}, {strides}, {offset_bytes})",
    "gradient": {
        "leaf": "{x}.stop_gradient = False",
        "copy": "{x}.clone()",
        "backward": "{y}.backward({dy})",
        "backward_all": "paddle.autograd.backward({y}, {dy})",
        "first": "paddle.grad({y}, {x}, {dy}, create_graph=True)",
        "read": "{x}.grad",
        # Paddle's set_value writes past the graph, by design; it stands for in-place forms that Paddle lacks.
        "untracked": "set_value",
        # So does this one, and is differentiated as what it writes.
        "stand_in": "paddle.assign({value}, output={x})",
    },
}


def start(options):
    """Import the framework quietly, on one thread, without recording gradients."""
    import os
    import warnings

    os.environ.setdefault("GLOG_minloglevel", "3")
    warnings.filterwarnings("ignore")
    import paddle

    paddle.set_device("cpu")
    paddle.set_grad_enabled(False)


def prepare(threads, seed, gradients=False):
    """Set what belongs to one evaluation. Paddle's thread count is that of the environment it started in."""
    import paddle

    paddle.seed(seed)
    paddle.set_grad_enabled(gradients)


def describe():
    """Versions and switches that belong into a report."""
    import numpy
    import paddle

    return {"paddle": paddle.__version__, "numpy": numpy.__version__, "commit": paddle.version.commit[:12]}


def from_array(array, dtype):
    """A dense tensor with memory of its own from a C-ordered array (bfloat16 arrives as its bits)."""
    import paddle

    if dtype == "bfloat16" and array.size == 0:
        return paddle.zeros(array.shape, "bfloat16")
    tensor = paddle.to_tensor(array)
    # Paddle reads uint16 as bfloat16; a 0-d int64 or bool array keeps its type.
    return tensor if tuple(tensor.shape) == array.shape else tensor.reshape(array.shape)


def to_memory(value):
    """The memory under a tensor: (flat array, dtype name, shape, strides, offset), all counted in elements."""
    import numpy
    import paddle

    if not isinstance(value, paddle.Tensor):
        array = numpy.asarray(value)
        return array.reshape(-1), array.dtype.name, array.shape, _dense(array.shape), 0
    name = str(value.dtype).split(".")[-1]
    shape = tuple(value.shape)
    if 0 in shape or value.is_contiguous():
        raw = value.numpy()
        return numpy.asarray(raw).reshape(-1), name, shape, _dense(shape), 0
    strides = tuple(value.strides)
    if min(strides) < 0:
        # Paddle makes reversed views; their memory starts before the offset, so their values travel instead.
        return numpy.ascontiguousarray(value.numpy()).reshape(-1), name, shape, _dense(shape), 0
    span = 1 + sum((n - 1) * s for n, s in zip(shape, strides))
    window = value.as_strided([span], [1], value.offset)  # Paddle counts this offset in bytes
    return window.numpy(), name, shape, strides, 0


def _dense(shape):
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))
