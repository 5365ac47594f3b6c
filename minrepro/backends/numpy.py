"""NumPy: the float64 reference of the common operators, and a fourth backend in its own right.

Read by host and worker; see `backends/torch.py` for the contract.
"""

BACKEND = {
    "package": "numpy",
    "import": "numpy",
    "title": "NumPy",
    "tracker": "numpy",
    "python": ">=3.8",
    "imports": {"np": "import numpy as np"},
    "dtypes": {
        name: "np." + ("bool_" if name == "bool" else name)
        for name in "float32 int64 bool float64 float16 int32 int16 int8 uint8 complex64 complex128".split()
    },
    "literal": "np.array({data}, dtype={dtype})",
    "implied": ("float64", "int64", "bool"),
    "zeros": "np.zeros({shape}, dtype={dtype})",
    "from_numpy": "{array}",
    "to_numpy": "{tensor}",
    "transpose": "{x}.T",
    "permute": "{x}.transpose({order})",
    "slice": "{x}[{index}]",
    "expand": "np.broadcast_to({x}, {shape})",
    "strided": "np.lib.stride_tricks.as_strided({x}[{offset}:], {shape}, [s * {x}.itemsize for s in {strides}])",
}


def start(options):
    """Import NumPy; its BLAS threads are pinned by the environment that the host sets."""
    import numpy
    import numpy.random  # NumPy 2 imports it at its first use, which would be in every child  # noqa: F401

    numpy.seterr(all="ignore")


def prepare(threads, seed, gradients=False):
    """Set what belongs to one evaluation."""
    import numpy

    numpy.random.seed(seed)


def describe():
    """Versions that belong into a report."""
    import numpy

    return {"numpy": numpy.__version__}


def from_array(array, dtype):
    """A dense array with memory of its own."""
    if dtype == "bfloat16":
        raise TypeError("NumPy has no bfloat16")
    return array.copy()


def to_memory(value):
    """The memory under an array: (flat array, dtype name, shape, strides, offset), all counted in elements."""
    import numpy

    array = numpy.ascontiguousarray(value)
    strides, step = [], 1
    for extent in reversed(numpy.shape(value)):
        strides.append(step)
        step *= extent
    return array.reshape(-1), array.dtype.name, numpy.shape(value), tuple(reversed(strides)), 0
