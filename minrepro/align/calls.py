"""A call of the framework that raises in the port: found, reduced to one line, scripted and verified.

The reference makes the same call where it can (torch's methods have the same names), so that a reduced call is one that
ought to work. Other calls of the port that have the same form are listed: a repair of one is seldom the repair.
"""

from __future__ import annotations

import ast
import hashlib
import json
import math
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping

import msgspec
import numpy as np

from minrepro.align.seat import Seat
from minrepro.backends.program import Feed, Program, Step
from minrepro.compare.pair import Side
from minrepro.emit import template
from minrepro.emit.script import requirements
from minrepro.ir.dtype import dtype
from minrepro.ir.outcome import Completed, Outcome, Raised
from minrepro.ir.signature import normalise
from minrepro.ir.tensor import Tensor
from minrepro.verify.running import run as run_script

MOST = 400
"""Queries after which the reduction of one call ends."""
RUNS = 3


class Argument(msgspec.Struct, frozen=True):
    """One tensor of a call, as shape and dtype: an exception hardly ever depends on values."""

    shape: tuple[int, ...]
    dtype: str


class Call(msgspec.Struct, frozen=True):
    """A call of the framework.

    Attributes:
        callee: method name, or dotted name of a function.
        method: the first argument is the receiver.
        args, kwargs: nested values; an `Argument` stands for a tensor.
    """

    callee: str
    method: bool
    args: tuple[Any, ...]
    kwargs: tuple[tuple[str, Any], ...]

    def text(self, root: str = "") -> str:
        """The call as Python, its tensors named x0, x1 ...; `root` renames the framework."""
        names = iter(f"x{i}" for i in range(99))
        shown = [_text(arg, names) for arg in self.args]
        named = [f"{key}={_text(value, names)}" for key, value in self.kwargs]
        if self.method:
            return f"{shown[0]}.{self.callee}({', '.join([*shown[1:], *named])})"
        callee = root + self.callee[self.callee.index("."):] if root else self.callee
        return f"{callee}({', '.join([*shown, *named])})"

    @property
    def tensors(self) -> list[Argument]:
        """Its tensors in the order of their names."""
        return [leaf for arg in (*self.args, *(v for _, v in self.kwargs)) for leaf in _leaves(arg)]

    @property
    def size(self) -> tuple[int, int, int, int]:
        """What is reduced: elements, arguments, sum of the numbers, axes."""
        numbers = [n for arg in (*self.args, *(v for _, v in self.kwargs)) for n in _numbers(arg)]
        elements, axes = sum(math.prod(t.shape) for t in self.tensors), sum(len(t.shape) for t in self.tensors)
        return elements, len(self.args) + len(self.kwargs) + len(numbers), sum(map(abs, numbers)), axes


class Found(msgspec.Struct):
    """A reduced call with its script.

    Attributes:
        call: the call as text.
        where: file and line of the port.
        error: class and message.
        path: of the script.
        lines: of the script.
        original: the call before.
        queries: how many were asked.
        reproduced, runs: fresh processes.
        alike: other lines of the port with a call of the same form.
        checked: the reference accepts the reduced call.
    """

    call: str
    where: str
    error: str
    path: str
    lines: int
    original: str
    queries: int
    reproduced: int
    runs: int
    alike: list[str]
    checked: bool


def reduce_call(
    reference: Side, candidate: Side, seat: Seat, role: str, folder: Path, progress: Callable[[int, int, str], None]
) -> Found | None:
    """Reduce the call in which a forward of the port raised.

    Args:
        reference, candidate: both sides.
        seat: the port's session.
        role: title of the run that raised.
        folder: where the script goes.

    Returns:
        None if the port raised by itself, not in a call of the framework.
    """
    told = seat.ask("failing", title=role)
    if not told:
        return None
    call = _read(told)
    return _Reducer(reference, candidate, told, call, progress).found(folder)


class _Reducer:
    def __init__(self, reference: Side, candidate: Side, told: Mapping[str, Any], call: Call, progress):
        self.reference, self.candidate, self.told, self.start, self.progress = reference, candidate, told, call, progress
        self.known: dict[str, bool] = {}
        first = self._run(call, candidate)
        self.error = first if isinstance(first, Raised) else None
        self.checked = isinstance(self._run(call, reference), Completed)

    def found(self, folder: Path) -> Found | None:
        """The reduced call, its script, and how often that shows it."""
        if self.error is None:
            return None
        best = self.start
        while True:
            smaller = next((c for c in _smaller(best) if c.size < best.size and self._shows(c)), None)
            if smaller is None or len(self.known) > MOST:
                break
            best = smaller
            self.progress(len(self.known), 0, best.text())
        final = self._run(best, self.candidate)
        assert isinstance(final, Raised)
        text = self._script(best, final)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "repro.py"
        path.write_text(text, encoding="utf-8")
        runs = [run_script(text, self.candidate.worker.interpreter, deadline=120.0) for _ in range(RUNS)]
        return Found(
            best.text(), f"{self.told['file']}:{self.told['line']}", f"{final.kind}: {final.message.splitlines()[0][:200]}",
            str(path), len(text.splitlines()), self.told["text"], len(self.known), sum(r.status == 1 for r in runs), RUNS,
            alike(self.told["file"], self.told["line"], self.start), self.checked,
        )

    def _shows(self, call: Call) -> bool:
        """True if the call raises the same error on the candidate and, where it did before, works on the reference."""
        name = hashlib.sha256(repr(call).encode()).hexdigest()
        if name not in self.known:
            outcome = self._run(call, self.candidate)
            assert self.error is not None
            same = isinstance(outcome, Raised) and outcome.kind == self.error.kind and normalise(
                outcome.message) == normalise(self.error.message)
            self.known[name] = same and (not self.checked or isinstance(self._run(call, self.reference), Completed))
        return self.known[name]

    def _run(self, call: Call, side: Side) -> Outcome:
        backend = side.spec.backend
        root = next(iter(backend.imports)) if side is self.reference else ""
        feeds = {f"x{i}": _tensor(t) for i, t in enumerate(call.tensors)}
        line = f"y = {_in_framework(call, root, backend.module)}"
        given = tuple(Feed(name, name, False, ()) for name in feeds)
        return side.worker.run(Program(given, (Step("call", (line,), ()),), {}), feeds, (), deadline=30.0)

    def _script(self, call: Call, error: Raised) -> str:
        backend = self.candidate.spec.backend
        root = next(iter(backend.imports))
        setup = [
            f"x{i} = " + backend.style["zeros"].format(shape=list(t.shape), dtype=backend.dtypes[t.dtype])
            for i, t in enumerate(call.tensors)
        ]
        environment = self.candidate.versions()
        why = "PyTorch makes this call" if self.checked else "the port makes this call"
        title = f"{backend.title}: {call.text()} raises {error.kind}"
        return template.fill(template.read("exception"), {
            "PYTHON": backend.python, "PACKAGES": json.dumps(requirements(self.candidate.spec, environment, False)),
            "TITLE": title.replace("\\", ""), "NOTES": [], "IMPORTS": [backend.imports[root]], "SETUP": setup,
            "EXPECT": [f'expected = "a result"  # {why}'], "SHOW_EXPECTED": "expected",
            "STEPS": [f"y = {_in_framework(call, root, backend.module)}"], "ACTUAL": '"a result"', "KIND": error.kind,
            "GUARD": [], "SHOW_ACTUAL": "actual", "SAME": "True", "LIMIT": "",
        })


def _in_framework(call: Call, root: str, module: str) -> str:
    """The call with the framework under the name that it is imported by."""
    if call.method:
        return call.text()
    return call.text(root) if root else call.text(module)


def _read(told: Mapping[str, Any]) -> Call:
    """The call from what the worker told; tensors come as their specs."""
    specs = [Argument(tuple(spec["shape"]), spec["dtype"]) for spec in told["specs"]]

    def value(data: Mapping[str, Any]) -> Any:
        (kind, held), = data.items()
        if kind == "leaf":
            return specs[held]
        if kind == "dict":
            return {key: value(item) for key, item in held}
        if kind in ("list", "tuple"):
            made = [value(item) for item in held]
            return made if kind == "list" else tuple(made)
        return held

    return Call(told["callee"], told["method"], tuple(value(told["args"])), tuple(value(told["kwargs"]).items()))


def _text(value: Any, names: Iterator[str]) -> str:
    if isinstance(value, Argument):
        return next(names)
    if isinstance(value, list):
        return f"[{', '.join(_text(item, names) for item in value)}]"
    if isinstance(value, tuple):
        inner = ", ".join(_text(item, names) for item in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    return repr(value)


def _leaves(value: Any) -> list[Argument]:
    if isinstance(value, Argument):
        return [value]
    return [leaf for item in value for leaf in _leaves(item)] if isinstance(value, (list, tuple)) else []


def _numbers(value: Any) -> list[int]:
    if isinstance(value, bool):
        return []
    if isinstance(value, int):
        return [value]
    return [n for item in value for n in _numbers(item)] if isinstance(value, (list, tuple)) else []


def _tensor(argument: Argument) -> Tensor:
    return Tensor(np.zeros(argument.shape, dtype(argument.dtype).storage), argument.dtype)


def _smaller(call: Call) -> Iterator[Call]:
    """Simpler calls: every size of one value made 1, an axis dropped with a number, a number or keyword dropped."""
    sizes = {n for t in call.tensors for n in t.shape} | {n for a in call.args for n in _numbers(a)}
    yield _changed(call, lambda n: 1 if n > 1 else n)
    for size in sorted((s for s in sizes if s > 1), reverse=True):
        yield _changed(call, lambda n, size=size: 1 if n == size else n)
    for position in range(len(call.args) - 1, 0, -1):
        yield msgspec.structs.replace(call, args=call.args[:position] + call.args[position + 1:])
    for position in range(len(call.kwargs)):
        yield msgspec.structs.replace(call, kwargs=call.kwargs[:position] + call.kwargs[position + 1:])
    for axis in range(max((len(t.shape) for t in call.tensors), default=0) - 1, -1, -1):
        yield _mapped(call, lambda v, axis=axis: _without(v, axis))


def _changed(call: Call, change: Callable[[int], int]) -> Call:
    def apply(value: Any) -> Any:
        if isinstance(value, Argument):
            return Argument(tuple(map(change, value.shape)), value.dtype)
        return change(value) if isinstance(value, int) and not isinstance(value, bool) else value

    return _mapped(call, apply)


def _without(value: Any, axis: int) -> Any:
    if isinstance(value, Argument) and axis < len(value.shape):
        return Argument(value.shape[:axis] + value.shape[axis + 1:], value.dtype)
    return value


def _mapped(call: Call, apply: Callable[[Any], Any]) -> Call:
    def walk(value: Any) -> Any:
        return type(value)(walk(item) for item in value) if isinstance(value, (list, tuple)) else apply(value)

    args = tuple(walk(arg) for arg in call.args)
    return msgspec.structs.replace(call, args=args, kwargs=tuple((key, walk(value)) for key, value in call.kwargs))


def alike(file: str, line: int, call: Call) -> list[str]:
    """Other calls in the port's file that have the same callee and the same form of arguments.

    Args:
        file: of the port.
        line: of the call that raised.
        call: that call.
    """
    name = call.callee.rpartition(".")[2]
    count = len(call.args) - call.method
    found = []
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or node.lineno == line:
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        plain = not any(isinstance(arg, (ast.List, ast.Tuple)) for arg in node.args)
        many = len(node.args) > 1 or any(isinstance(arg, ast.Starred) for arg in node.args)
        if called == name and plain and many and count > 1:
            found.append(f"{file}:{node.lineno}: {ast.unparse(node)}")
    return sorted(found, key=lambda text: int(text.split(":")[1]))
