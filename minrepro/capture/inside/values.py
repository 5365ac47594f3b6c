"""Nested values around a call: tensors in tuples, lists, dicts and dataclasses; copies that keep the layout; inputs."""

import dataclasses

import numpy
import torch


def leaves(value, label):
    """(label, tensor) of every tensor in a nested value, depth first; labels are joined with ``_``."""
    if isinstance(value, torch.Tensor):
        return [(label, value)]
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, (list, tuple)):
        names = getattr(value, "_fields", range(len(value)))
        items = list(zip(names, value))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        items = [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
    else:
        return []
    found = []
    for key, item in items:
        found += leaves(item, "%s_%s" % (label, key) if label else str(key))
    return found


def twin(tensor):
    """A copy in memory of its own with the very strides, gaps included."""
    tensor = tensor.detach().resolve_conj().resolve_neg()
    if tensor.numel() == 0 or tensor.layout is not torch.strided:
        return tensor.clone()
    span = 1 + sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride()))
    window = tensor.as_strided((span,), (1,), tensor.storage_offset())
    return window.clone().as_strided(tensor.shape, tensor.stride(), 0)


def copied(value, memo):
    """A nested value with every tensor replaced by its twin (the same twin for the same tensor)."""
    if isinstance(value, torch.Tensor):
        if id(value) not in memo:
            memo[id(value)] = twin(value)
        return memo[id(value)]
    if isinstance(value, dict):
        return {key: copied(item, memo) for key, item in value.items()}
    if isinstance(value, tuple):
        items = [copied(item, memo) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return [copied(item, memo) for item in value] if isinstance(value, list) else value


def same(a, b):
    """True if two tensors are equal bit for bit (NaNs and the sign of zero included)."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if torch.equal(a, b) and not a.is_floating_point() and not a.is_complex():
        return True
    return torch.equal(a.contiguous().reshape(-1).view(torch.uint8), b.contiguous().reshape(-1).view(torch.uint8))


def difference(a, b):
    """Largest absolute difference; infinity where one side is NaN or the shapes differ."""
    if a.shape != b.shape:
        return float("inf")
    if a.numel() == 0:
        return 0.0
    wide = torch.complex128 if a.is_complex() or b.is_complex() else torch.float64
    gap = (a.to(wide) - b.to(wide)).abs()
    gap[(a == b) | ((a != a) & (b != b))] = 0.0
    return float(torch.nan_to_num(gap, nan=float("inf")).max())


def largest(tensor):
    """The largest finite magnitude in a tensor."""
    if tensor.numel() == 0:
        return 0.0
    sizes = tensor.to(torch.complex128 if tensor.is_complex() else torch.float64).abs()
    return float(torch.nan_to_num(sizes, nan=0.0, posinf=0.0).max())


def tensor_of(value):
    """NumPy arrays anywhere in a nested value become tensors with the same layout."""
    if isinstance(value, numpy.ndarray):
        if any(stride < 0 for stride in value.strides) or not value.flags.writeable:
            value = value.copy()
        return torch.from_numpy(value)
    if isinstance(value, dict):
        return {key: tensor_of(item) for key, item in value.items()}
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(tensor_of(item) for item in value)
    return [tensor_of(item) for item in value] if isinstance(value, list) else value


def tensor_from(array, dtype):
    """A tensor of an array; `dtype` is a name, or None for the array's own."""
    made = tensor_of(array)
    return made if dtype is None else made.to(getattr(torch, dtype))
