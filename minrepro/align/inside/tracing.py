"""What ran last before a process ended: noted in files, which outlive it.

Only a run that is repeated after a death is traced. Every function of the framework is wrapped: the outermost call from
the user's code or from a layer is written down with its arguments before it is made, and crossed out when it has
returned and its work is done. Between the calls every line of the user's code is noted, so that an end which no call
of the framework explains has a line, too.
"""

import functools
import inspect
import json
import os
import signal
import sys
import threading
import types

from . import lines, running, trees
from .failing import plain

OURS = tuple(
    os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), part, "")
    for part in ("align", "worker", "capture", "backends")
)
PYTHON = os.path.join(os.path.dirname(os.path.abspath(os.__file__)), "")
MOST = 1 << 26
"""Bytes of arguments that are written down; of more only shapes and dtypes are."""
NAMESPACES = ("", "nn.functional", "linalg", "fft", "special", "_C_ops", "_C")
"""Where a framework's functions are, the name that users write first."""
LAYERS = ("nn.layer", "nn.modules")
"""Where its layers are, which may have imported a function by name."""
DUNDERS = frozenset(
    "__%s__" % name for name in "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow matmul "
    "rmatmul and rand or ror xor rxor lshift rlshift rshift rrshift neg abs invert eq ne lt le gt ge getitem setitem "
    "iadd isub imul itruediv ifloordiv imod".split()
)
FATAL = tuple(getattr(signal, "SIG" + name) for name in ("SEGV", "ABRT", "FPE", "BUS", "ILL", "TERM", "SYS", "TRAP"))
"""Signals that end a process, or that somebody sends himself."""
INSIDE = threading.local()
"""Set while a wrapped function runs: what it calls itself is its own business."""


class Trace:
    """Writes down calls and lines.

    Args:
        native: the framework.
        path: prefix of the files: ``.call``, ``.values`` and ``.line``.
    """

    def __init__(self, native, path):
        self.native = native
        self.calls, self.values, self.lines = (
            os.open(path + end, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600) for end in (".call", ".values", ".line"))
        self.place = ["", 0, "", ""]

    def begin(self, callee, method, args, kwargs):
        """Note a call that is about to be made."""
        file, line = running.caller(self.native)
        told = {"callee": callee, "method": method, "file": file, "line": line, "unit": self.unit()}
        try:
            told = dict(told, **self._described(args, kwargs))
        except Exception:  # a tensor without values, an argument that does not like to be looked at
            told["specs"] = None
        text = b"1" + json.dumps(told).encode()
        os.ftruncate(self.calls, 0)
        os.pwrite(self.calls, text, 0)

    def _described(self, args, kwargs):
        """The arguments as data; values go to their own file."""
        held, at = [], 0

        def take(leaf):
            if self.native.is_dtype(leaf):
                return {"named": str(leaf).split(".")[-1]}
            held.append(leaf)
            return len(held) - 1

        def is_leaf(item):
            return self.native.is_leaf(item) or self.native.is_dtype(item)

        told = {"args": trees.written([plain(item) for item in args], is_leaf, take),
                "kwargs": trees.written(kwargs, is_leaf, take), "specs": []}
        arrays = [self.native.array(leaf) if self.native.is_tensor(leaf) else leaf for leaf in held]
        small = sum(array.nbytes for array in arrays) <= MOST
        for leaf, array in zip(held, arrays):
            name = self.native.dtype_name(leaf) if self.native.is_tensor(leaf) else leaf.dtype.name
            told["specs"].append({"shape": list(array.shape), "dtype": name, "stored": array.dtype.name,
                                  "at": at if small else None})
            if small:
                os.pwrite(self.values, array.tobytes(), at)
                at += array.nbytes
        return told

    def end(self):
        """Cross the call out."""
        os.pwrite(self.calls, b"0", 0)

    def unit(self):
        """The unit that this thread's forward is in."""
        run = running.RUNS.get(threading.get_ident())
        return list(run.stack[-1]) if run is not None and run.stack else []

    def line(self, file, line, inside=""):
        """Note a line of the user's code, or the framework's function that it has entered."""
        self.place = [file, line, inside, self.unit()]
        text = json.dumps(self.place).encode()
        os.ftruncate(self.lines, len(text))
        os.pwrite(self.lines, text, 0)


def install(native, path):
    """Wrap the framework's functions and watch the lines of all threads that start from now on."""
    trace = Trace(native, path)
    known = {}
    for space in NAMESPACES:
        _wrap_functions(native, trace, space, known)
    for name, module in list(sys.modules.items()):
        if isinstance(module, types.ModuleType) and name.startswith(tuple("%s.%s" % (native.name, end) for end in LAYERS)):
            for key, value in list(vars(module).items()):
                if inspect.isroutine(value) and id(value) in known:
                    setattr(module, key, known[id(value)][1])
    for name in dir(native.root.Tensor):
        value = getattr(native.root.Tensor, name, None)
        if inspect.isroutine(value) and not isinstance(value, type) and (name in DUNDERS or not name.startswith("_")):
            static = isinstance(inspect.getattr_static(native.root.Tensor, name), (staticmethod, classmethod))
            if not static:
                setattr(native.root.Tensor, name, _noted(native, trace, name, True, value))
    tracer = _tracer(native, trace)

    def started(frame, event, argument):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, FATAL)
        sys.settrace(tracer)
        return tracer(frame, event, argument)

    threading.settrace(started)
    sys.settrace(tracer)


def shield():
    """Leave signals to the threads that run the model: one that the main thread took would find them further on."""
    signal.pthread_sigmask(signal.SIG_BLOCK, FATAL)


def _wrap_functions(native, trace, space, known):
    """Wrap the functions of one namespace; one that has another name already gets its wrapper."""
    holder = native.root
    for part in filter(None, space.split(".")):
        holder = getattr(holder, part, None)
    if holder is None or isinstance(holder, type):
        return
    for name, value in list(vars(holder).items()):
        if name.startswith("_") or not inspect.isroutine(value):
            continue
        if id(value) not in known:
            callee = ".".join(filter(None, (native.name, space, name)))
            known[id(value)] = value, _noted(native, trace, callee, False, value)
        setattr(holder, name, known[id(value)][1])


def _noted(native, trace, callee, method, original):
    def noted(*args, **kwargs):
        if getattr(INSIDE, "on", False) or sys._getframe(1).f_code.co_filename.startswith(OURS):
            return original(*args, **kwargs)
        INSIDE.on = True
        try:
            trace.begin(callee, method, args, kwargs)
            result = original(*args, **kwargs)
            native.wait()
            return result
        finally:
            trace.end()
            INSIDE.on = False

    try:
        return functools.wraps(original)(noted)
    except (AttributeError, TypeError):
        return noted


def _tracer(native, trace):
    """A trace function: lines of the user's code, and what of the framework they are in."""
    skip = (*native.skip, *OURS)

    def line(frame, event, argument):
        if event == "line":
            trace.line(frame.f_code.co_filename, frame.f_lineno)
        elif event == "return":
            _back(frame.f_back)
        return line

    def _back(frame):
        """The user's function has returned: to his own line, or to a function of the framework that called it."""
        if frame is not None and lines.owned(frame.f_code, skip):
            trace.line(frame.f_code.co_filename, frame.f_lineno)
        elif frame is not None and frame.f_code.co_filename.startswith(native.folder):
            trace.line(*trace.place[:2], _named(native, frame))

    def entered(frame, place):
        """Watch a function of the framework until it is left: what comes after it on the same line is the user's."""
        trace.line(*place, _named(native, frame))
        frame.f_trace_lines = False

        def left(frame, event, argument):
            if event == "return":
                native.wait()  # it may have left work to do
                trace.line(*place)
            return left

        return left

    def call(frame, event, argument):
        file = frame.f_code.co_filename
        if getattr(INSIDE, "on", False) or file.startswith(PYTHON) and "site-packages" not in file:
            return None
        if lines.owned(frame.f_code, skip):
            return line
        if file.startswith(native.folder) and not trace.place[2] and trace.place[0]:
            return entered(frame, trace.place[:2])
        return None

    return call


def _named(native, frame):
    """File and name of a function of the framework."""
    parent = os.path.dirname(native.folder[:-1])
    return "%s:%s" % (frame.f_code.co_filename[len(parent) + 1:], frame.f_code.co_name)
