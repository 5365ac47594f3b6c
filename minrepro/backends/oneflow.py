"""OneFlow on the CPU, eager mode.

Read by host and worker; see `backends/torch.py` for the contract. OneFlow follows PyTorch's interface, so a row
without a spelling of its own is spelled as for torch with the root renamed (``like``).
"""

BACKEND = {
    "package": "oneflow",
    "import": "oneflow",
    "title": "OneFlow",
    "tracker": "oneflow",
    "python": ">=3.8,<3.11",
    "like": "torch",
    # Their kernels wait for the parent's thread pool, which a forked child does not have: they hang there, not in OneFlow.
    "dead_after_fork": ("argmax", "argmin", "max.dim", "min.dim", "median.dim", "topk", "multinomial"),
    "rename": {"torch": "flow"},
    "imports": {"flow": "import oneflow as flow", "F": "import oneflow.nn.functional as F"},
    "dtypes": {
        name: "flow." + name for name in "float32 int64 bool float64 float16 bfloat16 int32 int8 uint8".split()
    },
    "literal": "flow.tensor({data}, dtype={dtype})",
    "implied": ("float32", "int64", "bool"),
    "zeros": "flow.zeros({shape}, dtype={dtype})",
    "from_numpy": "flow.tensor({array})",
    "to_numpy": "{tensor}.numpy()",
    "transpose": "{x}.t()",
    "permute": "{x}.permute({order})",
    "slice": "{x}[{index}]",
    "expand": "{x}.expand({shape})",
    "strided": "flow.as_strided({x}, {shape}, {strides}, {offset})",
    "gradient": {
        "leaf": "{x}.requires_grad_()",
        "copy": "{x}.clone()",
        "backward": "{y}.backward({dy})",
        "backward_all": "flow.autograd.backward({y}, {dy})",
        "first": "flow.autograd.grad({y}, {x}, {dy}, create_graph=True)",
        "read": "{x}.grad",
        # OneFlow 0.9.0 sends gradients past a copy_, which stands for in-place forms that it lacks.
        "untracked": "copy_",
    },
}


def start(options):
    """Import the framework; its banner lines go to the worker's log."""
    import oneflow as flow

    flow.set_grad_enabled(False) if hasattr(flow, "set_grad_enabled") else None


def prepare(threads, seed, gradients=False):
    """Set what belongs to one evaluation. OneFlow 0.9.0 records gradients outside of a ``with`` in any case."""
    import oneflow as flow

    flow.manual_seed(seed)


def describe():
    """Versions that belong into a report."""
    import numpy
    import oneflow as flow

    return {"oneflow": flow.__version__, "numpy": numpy.__version__}


def from_array(array, dtype):
    """A dense tensor with memory of its own from a C-ordered array (bfloat16 arrives as its bits)."""
    import oneflow as flow

    if dtype == "bfloat16":
        wide = (array.reshape(-1).astype("uint32") << 16).view("float32").reshape(array.shape)
        return flow.tensor(wide).to(flow.bfloat16)
    # Twice as fast as `flow.tensor`; the clone owns its memory, which in-place kernels insist on.
    return flow.from_numpy(array.copy()).clone()


def to_memory(value):
    """The memory under a tensor: (flat array, dtype name, shape, strides, offset), all counted in elements."""
    import numpy
    import oneflow as flow

    if not isinstance(value, flow.Tensor):
        array = numpy.asarray(value)
        return array.reshape(-1), array.dtype.name, array.shape, _dense(array.shape), 0
    name = str(value.dtype).split(".")[-1]
    shape = tuple(value.shape)
    if name == "bfloat16":
        bits = (value.to(flow.float32).numpy().view("uint32") >> 16).astype("uint16")
        return bits.reshape(-1), name, shape, _dense(shape), 0
    if 0 in shape or value.is_contiguous():
        return numpy.asarray(value.numpy()).reshape(-1), name, shape, _dense(shape), 0
    strides = tuple(value.stride())
    span = 1 + sum((n - 1) * s for n, s in zip(shape, strides))
    window = flow.as_strided(value, (span,), (1,), value.storage_offset())
    return window.numpy(), name, shape, strides, 0


def _dense(shape):
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))
