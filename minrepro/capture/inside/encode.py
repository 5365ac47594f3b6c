"""The wire form of a recording: arguments as JSON, tensors as descriptions, names as identifiers.

An argument is a JSON value, or an object with one key: {"ref": name}, {"dtype": name}, {"float": text} for what JSON
cannot write, {"complex": [re, im]}.
"""

import keyword
import math
import re

import torch

RESERVED = {"np", "sys", "torch", "F", "paddle", "flow", "oneflow", "math", "layer", "out"}
"""Names that spelled steps use themselves (import roots and helper variables)."""


class Ref:
    """A use of a named value inside the arguments of a node."""

    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name


class Names:
    """Hands out identifiers that no value has yet."""

    def __init__(self, taken=()):
        self.taken = set(RESERVED) | set(taken)

    def new(self, wanted):
        """An identifier like `wanted`, with a number behind it if that is taken."""
        stem = re.sub(r"\W", "_", wanted)
        if not stem.isidentifier() or keyword.iskeyword(stem):
            stem = "v_" + stem
        name, count = stem, 1
        while name in self.taken:
            name, count = "%s_%d" % (stem, count), count + 1
        self.taken.add(name)
        return name


def dtype_name(dtype):
    """``torch.float32`` -> ``float32``."""
    return str(dtype).split(".")[-1]


def describe(tensor):
    """Shape, dtype and strides of a tensor."""
    return {"shape": list(tensor.shape), "dtype": dtype_name(tensor.dtype), "strides": list(tensor.stride())}


def encode(value):
    """An argument as JSON.

    Raises:
        TypeError: for a type that no framework could be given.
    """
    if isinstance(value, Ref):
        return {"ref": value.name}
    if isinstance(value, torch.dtype):
        return {"dtype": dtype_name(value)}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if isinstance(value, complex):
        return {"complex": [str(value.real), str(value.imag)]}
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "__index__"):
        return int(value)
    raise TypeError("an argument of type %s has no written form" % type(value).__name__)


def decode(value, values):
    """The inverse of `encode`, with `values` for the references."""
    if isinstance(value, list):
        return [decode(item, values) for item in value]
    if not isinstance(value, dict):
        return value
    if "ref" in value:
        return values[value["ref"]]
    if "dtype" in value:
        return getattr(torch, value["dtype"])
    if "float" in value:
        return float(value["float"])
    return complex(*map(float, value["complex"]))


def references(value):
    """Yield the names an encoded argument uses."""
    if isinstance(value, list):
        for item in value:
            yield from references(item)
    elif isinstance(value, dict) and "ref" in value:
        yield value["ref"]
