"""Where each module was constructed: the line at which somebody who finds its setting wrong has to look."""

import contextlib
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


@contextlib.contextmanager
def watched(native):
    """Inside, constructions are noted; gives a dict of id(module) -> [file, line].

    Every framework's base class has its constructor called, by its own layers as well as by the user's classes.
    """
    noted, kind = {}, native.Module
    original = kind.__init__

    def __init__(self, *args, **kwargs):
        noted[id(self)] = _where(self, (HERE, native.folder, "<"))
        original(self, *args, **kwargs)

    kind.__init__ = __init__
    try:
        yield noted
    finally:
        kind.__init__ = original


def _where(module, skip):
    """The user's line that constructs a module: outside of the framework and of the module's own constructors."""
    frame = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        first = code.co_varnames[0] if code.co_argcount else ""
        if not code.co_filename.startswith(skip) and not (first and frame.f_locals.get(first) is module):
            return [code.co_filename, frame.f_lineno]
        frame = frame.f_back
    return None
