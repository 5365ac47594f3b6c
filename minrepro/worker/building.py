"""The user's builder inside a framework's interpreter: find it, call it, and say in data what the user has to mend.

Standard library and NumPy, Python 3.8. Worker-side code of any framework loads this file by path.
"""

import difflib
import importlib
import importlib.util
import inspect
import os
import random
import sys
import traceback

import numpy

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Mistake(Exception):
    """Something the user can mend; `facts` is what the host makes a message of."""

    def __init__(self, kind, **facts):
        super().__init__(kind)
        self.facts = dict(facts, kind=kind)


def holder(source):
    """Import the file or module that a source names.

    Args:
        source: {"file" or "module", "callable", "paths"}; `paths` go on the module path first.
    """
    for path in reversed(source.get("paths", ())):
        if path not in sys.path:
            sys.path.insert(0, path)
    try:
        if "file" in source:
            name = "minrepro_model_" + os.path.splitext(os.path.basename(source["file"]))[0]
            spec = importlib.util.spec_from_file_location(name, source["file"])
            found = importlib.util.module_from_spec(spec)
            sys.modules[name] = found
            spec.loader.exec_module(found)
            return found
        return importlib.import_module(source["module"])
    except Exception as error:
        where = source.get("file") or source["module"]
        raise Mistake("raised", stage="import", where=where, **blame(error)) from None


def named(source):
    """The object that a source names.

    Raises:
        Mistake: if its file cannot be imported or has no such callable; the close names are part of it.
    """
    place = found = holder(source)
    for part in source["callable"].split("."):
        found = getattr(found, part, None)
    if callable(found):
        return found
    known = sorted(
        name for name, value in vars(place).items()
        if callable(value) and not name.startswith("_") and getattr(value, "__module__", None) == place.__name__
    )
    raise Mistake(
        "no_callable", where=source.get("file") or source["module"], callable=source["callable"], known=known,
        close=difflib.get_close_matches(source["callable"], known, 1),
    )


def make(builder, seed, reseed):
    """Call a builder with the seed if it takes one.

    Args:
        builder: a callable without needed arguments but `seed`.
        seed: seed of everything random.
        reseed: sets the framework's own seed.
    """
    random.seed(seed)
    numpy.random.seed(seed % 2**32)
    reseed(seed)
    try:
        parameters = inspect.signature(builder).parameters
    except (TypeError, ValueError):
        parameters = {}
    needed = [
        p.name for p in parameters.values()
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
        and p.name != "seed"
    ]
    if needed:
        raise Mistake("arguments", callable=getattr(builder, "__name__", "?"), needed=needed)
    try:
        return builder(seed=seed) if "seed" in parameters else builder()
    except Exception as error:
        raise Mistake("raised", stage="build", **blame(error)) from None


def blame(error, paths=None, skip=()):
    """Where an exception came from: the user's innermost frame and, in a forward, the innermost module.

    Args:
        error: the exception.
        paths: id of a module -> its path in the model.
        skip: folders whose frames are nobody's own, such as the framework's.
    """
    frames = list(traceback.walk_tb(error.__traceback__))
    path, owner = "", ""
    for frame, _ in frames:
        held = frame.f_locals.get("self")
        if paths and id(held) in paths:
            path, owner = paths[id(held)], type(held).__name__
    file, line = "", 0
    if isinstance(error, SyntaxError) and error.filename:
        file, line = error.filename, error.lineno or 0
    else:
        places = [(f.f_code.co_filename, number) for f, number in frames]
        ours = tuple(os.path.join(HERE, part) for part in ("worker", os.path.join("capture", ""), os.path.join("align", "")))
        places = [place for place in places if not place[0].startswith((*ours, *skip, "<frozen"))]
        own = [place for place in places if "site-packages" not in place[0]]
        if own or places:
            file, line = (own or places)[-1]
    return {
        "error": type(error).__name__, "message": _said(error), "file": file, "line": line,
        "path": path, "owner": owner,
    }


def _said(error):
    """The text of an exception, and of the first one in a chain, which is often the one that helps."""
    first = error
    while first.__cause__ is not None:
        first = first.__cause__
    text = str(error)[:2000]
    return text if first is error else "%s (because of %s: %s)" % (text, type(first).__name__, str(first)[:1000])


def readings(given):
    """The ways in which inputs can be meant, most likely first, as (args, kwargs).

    None is no input, a tensor one argument, a tuple or list several, a dict keywords; (tuple, dict) is both. A tuple
    or dict that forward cannot take so is one argument.
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


def from_specs(specs, seed, tensor):
    """(args, kwargs) from parsed input specs; spec number i is drawn from seed + i.

    Args:
        specs: as ``capture.inputs`` parses them.
        seed: of the first one.
        tensor: makes a tensor of an array and a dtype's name; None keeps the array's own.
    """
    args, kwargs = [], {}
    for index, spec in enumerate(specs):
        if "file" in spec:
            pairs = [(name, tensor(value, None)) for name, value in _loaded(spec)]
        else:
            pairs = [(spec["name"], tensor(_drawn(spec, seed + index), spec["dtype"]))]
        for name, value in pairs:
            if name:
                kwargs[name] = value
            else:
                args.append(value)
    return tuple(args), kwargs


def _drawn(spec, seed):
    """Seeded values: standard normal floats, integers below the bound, fair coin flips; to be cast to the dtype."""
    random = numpy.random.RandomState(seed % 2**32)
    dtype, shape = spec["dtype"], spec["shape"]
    if dtype == "bool":
        return numpy.array(random.random_sample(shape) < 0.5)
    if dtype.startswith("complex"):
        return numpy.array(random.standard_normal(shape) + 1j * random.standard_normal(shape))
    if dtype.startswith(("float", "bfloat")):
        return numpy.array(random.standard_normal(shape))
    return numpy.array(random.randint(0, spec["high"], shape))


def _loaded(spec):
    """(name, array) pairs of a NumPy file; pickled objects are refused."""
    try:
        data = numpy.load(spec["file"], allow_pickle=False)
        if isinstance(data, numpy.ndarray):
            return [(spec["name"], data)]
        if spec["key"]:
            return [(spec["name"], data[spec["key"]])]
        # Arrays that were saved without names are positional.
        return [("" if name.startswith("arr_") else name, data[name]) for name in data.files]
    except KeyError:
        message = "no array %r" % spec["key"]
        raise Mistake("input_file", file=spec["file"], message=message, known=sorted(data.files)) from None
    except Exception as error:
        message = "%s: %s" % (type(error).__name__, error)
        raise Mistake("input_file", file=spec["file"], message=message, known=[]) from error
