"""The inputs of the reference model, from its builder or from specs; and the same values as the other side's inputs."""

import inspect

import numpy

from . import trees


def readings(given):
    """The ways in which inputs can be meant, most likely first, as (args, kwargs).

    None is no input, a tensor one argument, a tuple or list several, a dict keywords; (tuple, dict) is both.
    """
    if given is None:
        return [((), {})]
    named = isinstance(given, dict) and all(isinstance(key, str) for key in given)
    ways = [((), given)] if named else []
    if isinstance(given, (tuple, list)):
        if len(given) == 2 and isinstance(given[0], tuple) and isinstance(given[1], dict):
            ways.append((given[0], given[1]))
        ways.append((tuple(given), {}))
    return ways + [((given,), {})]


def tensors(native, given):
    """NumPy arrays anywhere in a nested value become tensors."""
    return trees.mapped(given, lambda value: isinstance(value, numpy.ndarray), native.tensor)


def from_specs(native, specs, seed, mistake):
    """(args, kwargs) from parsed input specs; spec number i is drawn from seed + i."""
    args, kwargs = [], {}
    for index, spec in enumerate(specs):
        pairs = _loaded(spec, mistake) if "file" in spec else [(spec["name"], _drawn(spec, seed + index))]
        for name, value in pairs:
            tensor = native.tensor(value)
            if "file" not in spec:
                tensor = native.cast(tensor, spec["dtype"])
            if name:
                kwargs[name] = tensor
            else:
                args.append(tensor)
    return tuple(args), kwargs


def _drawn(spec, seed):
    random = numpy.random.RandomState(seed % 2**32)
    if spec["dtype"] == "bool":
        return numpy.array(random.random_sample(spec["shape"]) < 0.5)
    if spec["dtype"].startswith(("float", "bfloat")):
        return numpy.array(random.standard_normal(spec["shape"]), "float32")
    return numpy.array(random.randint(0, spec["high"], spec["shape"]), "int64")


def _loaded(spec, mistake):
    """(name, array) pairs of a NumPy file; pickled objects are refused."""
    try:
        data = numpy.load(spec["file"], allow_pickle=False)
        if isinstance(data, numpy.ndarray):
            return [(spec["name"], data)]
        if spec["key"]:
            return [(spec["name"], data[spec["key"]])]
        return [("" if name.startswith("arr_") else name, data[name]) for name in data.files]
    except KeyError:
        raise mistake("input_file", file=spec["file"], message="no array %r" % spec["key"], known=sorted(data.files)) from None
    except Exception as error:
        raise mistake("input_file", file=spec["file"], message="%s: %s" % (type(error).__name__, error), known=[]) from error


def fitting(module, ways, mistake, nothing):
    """The first of several (args, kwargs) that the model's forward takes."""
    signature = inspect.signature(module.forward)
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
