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


def readings(given):
    """The ways in which inputs can be meant, most likely first, as (args, kwargs).

    None is no input, a tensor one argument, a tuple or list several, a dict keywords; (tuple, dict) is both. A tuple
    or dict that forward cannot take so is one argument.
    """
    if given is None:
        return [((), {})]
    given = tensor_of(given)
    named = isinstance(given, dict) and all(isinstance(key, str) for key in given)
    ways = [((), given)] if named else []
    if isinstance(given, (tuple, list)):
        if len(given) == 2 and isinstance(given[0], tuple) and isinstance(given[1], dict):
            ways.append((given[0], given[1]))
        ways.append((tuple(given), {}))
    return ways + [((given,), {})]


def from_specs(specs, seed, mistake):
    """(args, kwargs) from parsed input specs; spec number i is drawn from seed + i."""
    args, kwargs = [], {}
    for index, spec in enumerate(specs):
        for name, value in _loaded(spec, mistake) if "file" in spec else [(spec["name"], _drawn(spec, seed + index))]:
            if name:
                kwargs[name] = value
            else:
                args.append(value)
    return tuple(args), kwargs


def _drawn(spec, seed):
    """Seeded values: standard normal floats, integers below the bound, fair coin flips."""
    random = numpy.random.RandomState(seed % 2**32)
    dtype, shape = getattr(torch, spec["dtype"]), spec["shape"]
    if dtype is torch.bool:
        return torch.from_numpy(random.random_sample(shape) < 0.5) if shape else torch.tensor(True)
    if dtype.is_complex:
        drawn = random.standard_normal(shape) + 1j * random.standard_normal(shape)
    elif dtype.is_floating_point:
        drawn = random.standard_normal(shape)
    else:
        drawn = random.randint(0, spec["high"], shape)
    return torch.from_numpy(numpy.array(drawn)).to(dtype)


def _loaded(spec, mistake):
    """(name, tensor) pairs of a NumPy file; pickled objects are refused."""
    try:
        data = numpy.load(spec["file"], allow_pickle=False)
        if isinstance(data, numpy.ndarray):
            return [(spec["name"], tensor_of(data))]
        if spec["key"]:
            return [(spec["name"], tensor_of(data[spec["key"]]))]
        # Arrays that were saved without names are positional.
        return [("" if name.startswith("arr_") else name, tensor_of(data[name])) for name in data.files]
    except KeyError:
        raise mistake("input_file", file=spec["file"], message="no array %r" % spec["key"], known=sorted(data.files)) from None
    except Exception as error:
        raise mistake("input_file", file=spec["file"], message="%s: %s" % (type(error).__name__, error), known=[]) from error
