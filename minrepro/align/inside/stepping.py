"""A user's function carried out step by step, so that every inner value is known together with the text that made it.

Python's own evaluation, expression by expression, over the syntax tree of the function. Helper functions and unwatched
modules of the user are stepped into; watched parts and the framework are called as they are. What is not understood
raises `Unfollowed`, and nothing is concluded.
"""

import ast
import inspect
import os
import sysconfig
import textwrap
import types

from . import running, trees
from .expressions import Expressions, Local
from .recorder import HOLE, Unfollowed
from .statements import Statements

LIBRARY = os.path.normpath(sysconfig.get_paths()["stdlib"]) + os.sep


class Frame:
    """Names of one call."""

    def __init__(self, function, names):
        self.function, self.names = function, names
        self.globals = function.__globals__
        cells = zip(function.__code__.co_freevars, function.__closure__ or ())
        self.cells = dict(cells)

    def inner(self):
        """A scope inside this one, for a comprehension."""
        return Frame(self.function, dict(self.names))


class Stepper(Expressions, Statements):
    """Carries out functions.

    Args:
        native: the framework.
        recorder: takes the steps.
        paths: id of a module -> its path.
    """

    def __init__(self, native, recorder, paths):
        self.native, self.recorder, self.paths = native, recorder, paths

    # -- calls ---------------------------------------------------------------------------------------------------

    def function(self, function, args, kwargs):
        """Step through a Python function with source; boxes in, box out."""
        function = inspect.unwrap(function)
        tree, first = parsed(function)
        defaults = {
            name: self.recorder.of(p.default) for name, p in inspect.signature(function).parameters.items()
            if p.default is not p.empty
        }
        frame = Frame(function, self.arguments(tree.args, args, kwargs, defaults))
        before, self.recorder.offset = self.recorder.offset, first - 1
        try:
            if isinstance(tree, ast.Lambda):
                return self.evaluate(tree.body, frame)
            return self.body(tree.body, frame)
        finally:
            self.recorder.offset = before

    def arguments(self, spec, args, kwargs, defaults):
        """Parameter -> box."""
        positional = [a.arg for a in getattr(spec, "posonlyargs", []) + spec.args]
        names = dict(zip(positional, args))
        rest, extra = list(args[len(positional):]), {}
        for key, box in kwargs.items():
            if key in positional or key in [a.arg for a in spec.kwonlyargs]:
                names[key] = box
            else:
                extra[key] = box
        if spec.vararg:
            value = tuple(box.value for box in rest)
            names[spec.vararg.arg] = self.recorder.display(value, rest)
        elif rest:
            raise TypeError("too many positional arguments")
        if spec.kwarg:
            names[spec.kwarg.arg] = self.recorder.of({key: box.value for key, box in extra.items()})
        elif extra:
            raise TypeError("unexpected keyword argument %r" % next(iter(extra)))
        for key, box in defaults.items():
            names.setdefault(key, box)
        return names

    def call(self, target, args, kwargs, text, operands=(), uses=None):
        """Call anything; `text` is what stands before the bracket, empty if it has no text of its own."""
        native = self.native
        if isinstance(target, Local):
            return target.run(args, kwargs)
        if isinstance(target, native.Module):
            if "forward" in target.__dict__.get(running.MARK, ()):
                return self.part(target, "forward", target, args, kwargs)
            if not native.is_own(type(target)):
                return self.function(type(target).forward, [self.recorder.of(target), *args], kwargs)
            return self.real(target, args, kwargs, "", operands, uses, label=self.name_of(target))
        owner = getattr(target, "__self__", None)
        if isinstance(owner, native.Module) and self.steps_into(target):
            return self.function(target.__func__, [self.recorder.of(owner), *args], kwargs)
        if isinstance(target, types.FunctionType) and self.steps_into(target):
            return self.function(target, args, kwargs)
        return self.real(target, args, kwargs, "" if isinstance(owner, native.Module) else text, operands, uses)

    def steps_into(self, target):
        """True for a function that the user wrote."""
        code = getattr(getattr(target, "__func__", target), "__code__", None)
        if code is None or not isinstance(getattr(target, "__func__", target), types.FunctionType):
            return False
        file = os.path.normpath(code.co_filename)
        if file.startswith((running.HERE, self.native.folder, LIBRARY, "<")):
            return False
        return "site-packages" not in file and not code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE)

    def name_of(self, module):
        """The last part of a module's path that is a word."""
        words = [word for word in self.paths.get(id(module), "").split(".") if not word.isdigit()]
        return words[-1] if words else type(module).__name__.lower()

    def part(self, module, method, target, args, kwargs):
        """A watched part: called as it is; its result is known from elsewhere, so it needs no text."""
        raw = [box.value for box in args], {key: box.value for key, box in kwargs.items()}
        leaves = [self.recorder.of(leaf).node for _, leaf in trees.leaves(raw, self.native.is_leaf)]
        path = self.paths.get(id(module), "")
        unit = path if method == "forward" else "%s::%s" % (path, method)
        run = running.RUNS.get(running.threading.get_ident())
        count = run.counts.get(unit, -1) + 1 if run is not None else 0
        label = self.name_of(module) if method == "forward" else method
        self.recorder.add("entering", None, unit=unit, call=count, leaves=leaves)
        value = target(*raw[0], **raw[1])
        return self.recorder.done(value, "", leaves, kind="opaque", label=label)

    def real(self, target, args, kwargs, text, operands=(), uses=None, **facts):
        """Call what is not stepped into, and note the step."""
        recorder = self.recorder
        numbers = list(operands) + [recorder.index(box) for box in args] + [recorder.index(b) for b in kwargs.values()]
        holes = [HOLE % (len(operands) + i) for i in range(len(args))]
        holes += ["%s=%s" % (key, HOLE % (len(operands) + len(args) + i)) for i, key in enumerate(kwargs)]
        whole = "%s(%s)" % (text, ", ".join(holes)) if text else ""
        raw = [box.value for box in args], {key: box.value for key, box in kwargs.items()}
        watched = [recorder.known_ids[i][0] for i in {id(v) for v in raw[0]} if i in recorder.known_ids]
        owner = getattr(target, "__self__", None)
        watched += [owner] if self.native.is_tensor(owner) else []
        before = [self.native.version(tensor) for tensor in watched]
        value = self.attempt(lambda: target(*raw[0], **raw[1]), whole, numbers, uses)
        for tensor, version in zip(watched, before):
            if version is not None and self.native.version(tensor) != version and value is tensor:
                cloned = whole.replace(HOLE % 0, HOLE % 0 + ".clone()", 1)
                return recorder.add("op" if whole else "opaque", value, cloned, numbers, uses, **facts)
        return recorder.done(value, whole, numbers, uses, "op" if whole else "opaque", **facts)

    def attempt(self, action, text, operands, uses):
        """Carry out a step; one that raises is noted as well."""
        try:
            return action()
        except Exception as error:
            if not isinstance(error, Unfollowed):
                self.recorder.add("raised", None, text, operands, uses, error=type(error).__name__, message=str(error)[:300])
            raise


def parsed(function):
    """(syntax tree of a function, its first line); decorators do not matter, they are outside."""
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise Unfollowed("there is no source of %s" % getattr(function, "__qualname__", function)) from None
    text = textwrap.dedent("".join(lines))
    try:
        tree = ast.parse(text)
    except SyntaxError:
        raise Unfollowed("the source of %s cannot be read by itself" % function.__qualname__) from None
    statement = tree.body[0]
    if isinstance(statement, ast.FunctionDef):
        return statement, first
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]
    if len(found) != 1:
        raise Unfollowed("%s is no plain function" % function.__qualname__)
    return found[0], first
