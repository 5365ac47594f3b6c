"""The inputs of the reference model, from its builder or from specs; and the same values as the other side's inputs."""

import inspect

import numpy

from . import trees


def tensors(native, given):
    """NumPy arrays anywhere in a nested value become tensors."""
    return trees.mapped(given, lambda value: isinstance(value, numpy.ndarray), native.tensor)


def maker(native):
    """Makes a tensor of an array and a dtype's name, as ``building.from_specs`` asks."""

    def tensor(array, dtype):
        if array.dtype == "float64" and dtype not in (None, "float64"):
            array = array.astype("float32")
        made = native.tensor(array)
        return made if dtype is None else native.cast(made, dtype)

    return tensor


def fitting(module, ways, mistake, nothing):
    """The first of several (args, kwargs) that the model's forward takes."""
    try:
        signature = inspect.signature(module.forward)
    except (TypeError, ValueError):
        return ways[0]  # compiled code does not say what it takes
    refusal = ""
    for args, kwargs in ways:
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            refusal = str(error)
            continue
        return args, kwargs
    forward = "forward%s of %s" % (signature, type(module).__name__)
    if nothing:
        raise mistake("inputs_missing", forward=forward, example=["float32[2,3,32,32]"])
    raise mistake("inputs_wrong", forward=forward, message=refusal)
