"""A model's forward that stops at every seam, so that somebody else can look at values and replace them.

The forward runs in a thread of its own; at the entry and the exit of each watched unit, and at each random draw, it
posts an event and waits for an order. Only one thread ever runs at a time. A unit is a module's forward, or another
method of the user's class that is called while the model runs (an encoder that is no module of its own).

Wrappers are put on the instance, not on the class; a thread that is no `Run` passes through them untouched.
"""

import contextlib
import functools
import inspect
import os
import queue
import sys
import threading

import numpy

from . import lines, noise, trees

HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
RECENT = 16
"""Calls whose arguments are kept after they are over: a side may lag behind the other by a few."""
MARK = "_minrepro_wrapped"
"""Attribute of a module: wrapped method -> what the user had put on the instance in its place, or None."""
RUNS = {}
"""Thread -> its `Run`."""


class Stopped(BaseException):
    """Ends a forward that nobody waits for any more; no user's ``except Exception`` catches it."""


class Run:
    """One forward in a thread.

    Args:
        native: the framework.
        evaluator: values are handed over through its namespace.
        title: prefix of the variables that hold this run's values.
        body: what to run; called without arguments, its result is posted at the end.
        dtype: default dtype and dtype of every floating value put in, or None for the model's own.
        random: generator of a relative noise on every floating value put in, or None.
        forced: values are replaced at the entry of a unit, so that the host has to see them there.
        seams: units are shown; else only random draws are, and gradients are recorded.
    """

    def __init__(self, native, evaluator, title, body, dtype=None, random=None, forced=True, seams=True):
        self.native, self.evaluator, self.title, self.body, self.dtype = native, evaluator, title, body, dtype
        self.random, self.forced, self.seams = random, forced, seams
        self.events, self.orders = queue.SimpleQueue(), queue.SimpleQueue()
        self.counts, self.stack, self.held = {}, [], []
        self.trail, self.streams = [], None
        self.hidden = False  # something was drawn since the event before; unless the event is a draw, inside a kernel
        self.error = None
        self.at = None  # the call whose entry was posted last
        self.recent = {}  # the calls that were left last
        self.thread = threading.Thread(target=self._main, daemon=True)

    # -- asked by the host, in the main thread ------------------------------------------------------------------

    def start(self):
        """Run until the first event."""
        return self._until(self.thread.start)

    def go(self, order):
        """Give an order and run until the next event."""
        for name in self.held:
            self.evaluator.namespace.pop(name, None)
        self.held = []
        return self._until(lambda: self.orders.put(order))

    def _until(self, begin):
        """Let the forward run to its next event."""
        with self._streams(), self.native.default_dtype(self.dtype):
            begin()
            event = self.events.get()
        return dict(event, hidden=self.hidden and event["kind"] != "draw")

    @contextlib.contextmanager
    def _streams(self):
        """Inside, random numbers come from streams of this run: no other run of the process moves on what it draws."""
        outside = self.native.streams()
        before = outside if self.streams is None else self.streams
        if self.streams is not None:
            self.native.set_streams(self.streams)
        try:
            yield
        finally:
            self.streams = self.native.streams()
            self.hidden = self.native.drawn(before, self.streams)
            self.native.set_streams(outside)

    def stop(self):
        """End the forward wherever it is."""
        if self.thread.is_alive():
            self.orders.put(None)
            self.thread.join(10.0)

    # -- in the forward's own thread ----------------------------------------------------------------------------

    def _main(self):
        RUNS[threading.get_ident()] = self
        try:
            mode = self.native.no_grad() if self.seams else self.native.grad()
            with mode, noise.watched(self.native, self.dtype == "float64", self.random):
                result = self.body()
            self.events.put({"kind": "done", "values": self._bound(result)})
        except Stopped:
            pass
        except BaseException as error:  # a user's model may raise anything, and the host must hear of it
            self.error = error
            self.events.put({"kind": "raised", "stack": [list(place) for place in self.stack]})
        finally:
            RUNS.pop(threading.get_ident(), None)

    def post(self, event):
        """Show an event to the host and wait for its order."""
        self.events.put(event)
        order = self.orders.get()
        if order is None:
            raise Stopped()
        return order

    def unit(self, name, original, args, kwargs):
        """A call of a watched unit."""
        call = self.counts[name] = self.counts.get(name, -1) + 1
        if not self.seams:
            return self._passing(name, call, original, args, kwargs)
        given = (args, kwargs)
        stack = [list(place) for place in self.stack]
        here = lines.trail(self.native.skip)
        event = {"kind": "enter", "unit": name, "call": call, "line": caller(self.native), "stack": stack,
                 "spans": lines.between(self.trail, here)}
        self.at = (name, args, kwargs)
        values = self._bound(given) if self.forced else []
        _by_parameter(original, given, values)
        order = self.post(dict(event, values=values))
        fresh = self._taken(order)
        args, kwargs = self._replaced(given, fresh)
        self.at = (name, args, kwargs)
        leaves = [leaf for _, leaf in trees.leaves((args, kwargs), self.native.is_leaf)]
        before = [self.native.version(leaf) for leaf in leaves]
        self.stack.append((name, call))
        code = _code(original)
        inside = code is not None and lines.owned(code, self.native.skip)
        self.trail = [*here, (code, code.co_firstlineno)] if inside else here
        result = original(*args, **kwargs)
        self.stack.pop()
        ending = [*here, (code, lines.last(code))] if inside else here
        event = {"kind": "exit", "unit": name, "call": call, "line": _leaving(original),
                 "spans": lines.between(self.trail, ending)}
        self.trail = here
        written = [i for i, leaf in enumerate(leaves) if before[i] is not None and self.native.version(leaf) != before[i]]
        event["written"] = written
        values = self._bound(result, is_value=self.native.is_value)
        returned = len(values)
        values += self._bound([leaves[i] for i in written], "written")
        self.recent[name, call] = args, kwargs
        if len(self.recent) > RECENT:
            del self.recent[next(iter(self.recent))]
        back = self._taken(self.post(dict(event, values=values)))
        outer = [leaf for _, leaf in trees.leaves(given, self.native.is_leaf)]
        # What the unit wrote into its inputs belongs to the caller's tensors, not only to the replacements.
        for place, i in enumerate(written):
            new = None if back is None else back[returned + place]
            value = leaves[i] if new is None else self._fitted(new, leaves[i])
            if outer[i] is not value:
                self.native.write(outer[i], value)
        return self._replaced(result, back, self.native.is_value)

    def _passing(self, name, call, original, args, kwargs):
        """A unit that is not shown: it only says where a draw comes from."""
        self.stack.append((name, call))
        try:
            return original(*args, **kwargs)
        finally:
            self.stack.pop()

    def draw(self, distribution, value, numpy_value=False):
        """A random draw: show it, and take another value for it if one is given."""
        label = "draw"
        name = "%s_%s" % (self.title, label)
        self.evaluator.namespace[name] = value
        self.held.append(name)
        event = {"kind": "draw", "stack": [list(p) for p in self.stack], "line": caller(self.native), "values": [
            {"label": label, "var": name, "dtype": self._dtype_of(value)}], "distribution": distribution}
        fresh = self._taken(self.post(event))
        if fresh is None or fresh[0] is None:
            return value
        return self.native.array(fresh[0]) if numpy_value else self.native.cast(fresh[0], self._dtype_of(value))

    def _dtype_of(self, value):
        return self.native.dtype_name(value) if self.native.is_tensor(value) else str(value.dtype)

    def _taken(self, order):
        """The tensors that the host put into the namespace for us, or None if it leaves ours."""
        names = order.get("replace")
        if names is None:
            return None
        return [None if name is None else self.evaluator.namespace.pop(name) for name in names]

    def _replaced(self, value, fresh, is_value=None):
        """A nested value with its leaves replaced in order; each keeps the dtype that this run computes in."""
        if fresh is None:
            return value
        left = list(fresh)

        def change(leaf):
            new = left.pop(0) if left else None
            if new is None:
                return leaf
            if isinstance(leaf, (int, float)):
                values = self.native.array(new)
                return type(leaf)(values.item()) if values.size == 1 else leaf  # another shape: a finding of its own
            if isinstance(leaf, numpy.ndarray):
                return self.native.array(new).astype(leaf.dtype)
            return self._fitted(new, leaf)

        return trees.mapped(value, is_value or self.native.is_leaf, change)

    def _fitted(self, new, leaf):
        """A value from the host in place of a tensor of ours."""
        if self.native.floating(new) and self.native.floating(leaf):
            # A side keeps its own precision: that is a finding of its own, and a mixture would only raise.
            return self._nudged(self.native.cast(new, self.dtype or self.native.dtype_name(leaf)))
        return new

    def _nudged(self, tensor):
        return tensor if self.random is None else noise.moved(self.native, tensor, self.random)

    def _bound(self, value, prefix="value", is_value=None):
        """Bind the leaves of a nested value to variables and describe them."""
        described = []
        for number, (label, leaf) in enumerate(trees.leaves(value, is_value or self.native.is_leaf)):
            name = "%s_%s%d" % (self.title, prefix, number)
            leaf = numpy.asarray(leaf) if isinstance(leaf, (int, float)) else leaf
            array = isinstance(leaf, numpy.ndarray)
            self.evaluator.namespace[name] = leaf.copy() if array else self.native.shown(leaf)
            self.held.append(name)
            described.append({"label": label, "var": name, "dtype": self._dtype_of(leaf), "part": prefix})
        return described


def _by_parameter(original, given, values):
    """Label positional arguments with the names of the parameters that take them."""
    try:
        names = list(inspect.signature(original).parameters)
    except (TypeError, ValueError):
        names = []
    for value in values:
        part, _, rest = value["label"].partition(".")
        if part == "0":
            number, _, inner = rest.partition(".")
            name = names[int(number)] if int(number) < len(names) else number
            rest = "%s.%s" % (name, inner) if inner else name
        value["label"] = rest


def caller(native):
    """File and line of the user's innermost frame: neither ours nor the framework's."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith((*native.skip, "<")):
            return [file, frame.f_lineno]
        frame = frame.f_back
    return ["", 0]


def _code(original):
    """The code of a unit, or None."""
    return getattr(getattr(original, "__func__", original), "__code__", None)


def _leaving(original):
    """File and first line of a unit's own code."""
    code = _code(original)
    return [code.co_filename, code.co_firstlineno] if code is not None else ["", 0]


def joined(prefix, path):
    """A path below another one."""
    return "%s.%s" % (prefix, path) if prefix and path else prefix or path


def wrap(native, module, units, prefix=""):
    """Put wrappers on the units of a model.

    Args:
        native: the framework.
        module: the model, or a part of it.
        units: names, ``path`` for a module's forward and ``path::method`` for another method.
        prefix: path of the part.

    Returns:
        [name, why] of the units that cannot be watched.
    """
    places = {joined(prefix, path): part for path, part in native.modules(module)}
    refused = []
    for name in units:
        path, _, method = name.partition("::")
        part, method = places[path], method or "forward"
        try:
            own = part.__dict__.get(method)
            object.__setattr__(part, method, _wrapper(name, getattr(part, method)))
            part.__dict__.setdefault(MARK, {})[method] = own
        except Exception as error:
            refused.append([name, "%s: %s" % (type(error).__name__, error)])
    return refused


def unwrap(native, module):
    """Take the wrappers off again: a copy of a wrapped model would call the original's methods."""
    for _, part in native.modules(module):
        for method, own in part.__dict__.pop(MARK, {}).items():
            if own is None:
                part.__dict__.pop(method, None)
            else:
                part.__dict__[method] = own


def _wrapper(name, original):
    @functools.wraps(original)
    def wrapped(*args, **kwargs):
        run = RUNS.get(threading.get_ident())
        if run is None:
            return original(*args, **kwargs)
        return run.unit(name, original, args, kwargs)

    return wrapped


def methods(native, module):
    """Names of the methods that the user's class defines beside forward, without dunders and without the framework's."""
    found = []
    for kind in type(module).__mro__:
        if kind is object or native.is_own(kind):
            continue
        for name, value in vars(kind).items():
            plain = callable(value) and not isinstance(value, (type, staticmethod, classmethod))
            if plain and name != "forward" and not name.startswith("__") and name not in found:
                found.append(name)
    return found
