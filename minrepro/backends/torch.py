"""PyTorch on the CPU.

This file is read twice: by the host, which needs the table `BACKEND`, and by the worker, which needs the functions.
It therefore imports nothing at the top and keeps to Python 3.8.
"""

BACKEND = {
    "package": "torch",
    "import": "torch",
    "title": "PyTorch",
    "tracker": "pytorch",
    "python": ">=3.10",
    "imports": {"torch": "import torch", "F": "import torch.nn.functional as F"},
    "dtypes": {
        name: "torch." + name
        for name in (
            "float32 int64 bool float64 float16 bfloat16 int32 int16 int8 uint8 complex64 complex128".split()
        )
    },
    # Source text of a dense literal, and the dtypes that it has without being told.
    "literal": "torch.tensor({data}, dtype={dtype})",
    "implied": ("float32", "int64", "bool"),
    "zeros": "torch.zeros({shape}, dtype={dtype})",
    "from_numpy": "torch.from_numpy({array})",
    "to_numpy": "{tensor}.numpy()",
    # Views, as this framework's users write them.
    "transpose": "{x}.t()",
    "permute": "{x}.permute({order})",
    "slice": "{x}[{index}]",
    "expand": "{x}.expand({shape})",
    "strided": "{x}.as_strided({shape}, {strides}, {offset})",
    # A gradient: mark a leaf, copy one that is written to, send one or several incoming gradients back, read; and one
    # that can be differentiated itself.
    "gradient": {
        "leaf": "{x}.requires_grad_()",
        "copy": "{x}.clone()",
        "backward": "{y}.backward({dy})",
        "backward_all": "torch.autograd.backward({y}, {dy})",
        "first": "torch.autograd.grad({y}, {x}, {dy}, create_graph=True)",
        "read": "{x}.grad",
    },
}


def start(options):
    """Import the framework and pin one thread: a pool that is started here would be dead in every forked child."""
    import torch

    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    torch.backends.mha.set_fastpath_enabled(False)


def prepare(threads, seed, gradients=False):
    """Set what belongs to one evaluation, in the child."""
    import torch

    if torch.get_num_threads() != threads:
        torch.set_num_threads(threads)
    torch.default_generator.manual_seed(seed)  # of the CPU; `torch.manual_seed` also asks every kind of device
    torch.set_grad_enabled(gradients)


def import_gradients():
    """Import what the first backward pass imports: half a second in torch 2.13; older ones have no such module."""
    try:
        import torch.fx.experimental.symbolic_shapes  # noqa: F401
    except ImportError:
        pass


def describe():
    """Versions and switches that belong into a report."""
    import numpy
    import torch

    return {"torch": torch.__version__, "numpy": numpy.__version__, "cpu": torch.backends.cpu.get_cpu_capability()}


def from_array(array, dtype):
    """A dense tensor with memory of its own from a C-ordered array (bfloat16 arrives as its bits)."""
    import torch

    if dtype == "bfloat16":
        return torch.from_numpy(array.astype("int16", copy=True)).view(torch.bfloat16)
    return torch.from_numpy(array.copy())


def to_memory(value):
    """The memory under a tensor: (flat array, dtype name, shape, strides, offset), all counted in elements."""
    import numpy
    import torch

    if not isinstance(value, torch.Tensor):
        array = numpy.asarray(value)
        return array.reshape(-1), array.dtype.name, array.shape, _dense(array.shape), 0
    value = value.detach().resolve_conj().resolve_neg()
    name = str(value.dtype).split(".")[-1]
    if value.numel() == 0:
        return numpy.zeros(0, "uint16" if name == "bfloat16" else name), name, tuple(value.shape), value.stride(), 0
    span = 1 + sum((n - 1) * s for n, s in zip(value.shape, value.stride()))
    window = value.as_strided((span,), (1,), value.storage_offset())
    raw = window.view(torch.int16).numpy().view("uint16") if name == "bfloat16" else window.numpy()
    return raw, name, tuple(value.shape), value.stride(), 0


def _dense(shape):
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))
