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
