"""One call of the framework as data: its text, its size, and the simpler calls next to it."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator, Mapping

import msgspec
import numpy as np

from minrepro.ir.dtype import dtype, from_float64
from minrepro.ir.tensor import Tensor

BINARY = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@", "and": "&",
    "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}
UNARY = {"neg": "-", "invert": "~"}
OPERATORS = {
    **{f"__{name}__": f"{{0}} {sign} {{1}}" for name, sign in BINARY.items()},
    **{f"__r{name}__": f"{{1}} {sign} {{0}}" for name, sign in BINARY.items()},
    **{f"__{name}__": f"{sign}{{0}}" for name, sign in UNARY.items()},
}
"""Method of a tensor -> the operator that calls it."""
FILLS = {"zeros": 0.0, "ones": 1.0, "nan": math.nan}
"""What may stand in all elements of a tensor, the simplest first."""


class Argument(msgspec.Struct, frozen=True):
    """One tensor of a call.

    Attributes:
        shape, dtype: of the tensor.
        fill: one of `FILLS`, or ``data``.
        data, stored: its values in C order, and the NumPy dtype that they are in.
    """

    shape: tuple[int, ...]
    dtype: str
    fill: str = "zeros"
    data: bytes = b""
    stored: str = ""

    @property
    def tensor(self) -> Tensor:
        """Its values."""
        kind = dtype(self.dtype)
        if self.fill == "zeros":
            return Tensor(np.zeros(self.shape, kind.storage), kind)
        if self.fill != "data":
            return Tensor(from_float64(np.full(self.shape, FILLS[self.fill]), kind), kind)
        values = np.frombuffer(self.data, self.stored).reshape(self.shape)
        return Tensor(values if values.dtype == kind.storage else from_float64(values.astype("float64"), kind), kind)

    def cut(self, index: tuple[Any, ...]) -> Argument:
        """The part of it that a NumPy index takes."""
        held = self.fill == "data"
        values = np.frombuffer(self.data, self.stored).reshape(self.shape) if held else np.broadcast_to(False, self.shape)
        part = values[index]
        return msgspec.structs.replace(self, shape=part.shape, data=part.tobytes() if held else b"")


class Named(msgspec.Struct, frozen=True):
    """A dtype of the framework."""

    name: str


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
        shown = [_text(arg, names, root) for arg in self.args]
        named = [f"{key}={_text(value, names, root)}" for key, value in self.kwargs]
        sign = OPERATORS.get(self.callee, "")
        if self.method and sign and sign.count("{") == len(shown) and not named:
            return sign.format(*shown)
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

    def filled(self, number: int, fill: str) -> Call:
        """The same with something else in all elements of one of its tensors."""
        place = iter(range(len(self.tensors)))

        def apply(value: Any) -> Any:
            if not isinstance(value, Argument) or next(place) != number:
                return value
            return Argument(value.shape, value.dtype, fill)

        return _mapped(self, apply)


def read(told: Mapping[str, Any], values: bytes = b"") -> Call | None:
    """The call from what a worker told; None if an argument of it cannot be written down.

    Args:
        told: callee and arguments, the tensors as specs.
        values: what the ``at`` of the specs points into; tensors of zeros without one.
    """
    if told["specs"] is None or _strange(told["args"]) or _strange(told["kwargs"]):
        return None
    specs = []
    for spec in told["specs"]:
        shape, at = tuple(spec["shape"]), spec.get("at")
        if at is None:
            specs.append(Argument(shape, spec["dtype"]))
        else:
            size = math.prod(shape) * np.dtype(spec["stored"]).itemsize
            specs.append(Argument(shape, spec["dtype"], "data", values[at : at + size], spec["stored"]))

    def value(data: Mapping[str, Any]) -> Any:
        (kind, held), = data.items()
        if kind == "leaf":
            return Named(held["named"]) if isinstance(held, dict) else specs[held]
        if kind == "dict":
            return {key: value(item) for key, item in held}
        if kind in ("list", "tuple"):
            made = [value(item) for item in held]
            return made if kind == "list" else tuple(made)
        return held

    return Call(told["callee"], told["method"], tuple(value(told["args"])), tuple(value(told["kwargs"]).items()))


def _strange(data: Mapping[str, Any]) -> bool:
    """True if a part of a nested argument could only be named."""
    (kind, held), = data.items()
    if kind == "dict":
        return any(_strange(item) for _, item in held)
    return kind == "strange" or kind in ("list", "tuple") and any(map(_strange, held))


def smaller(call: Call) -> Iterator[Call]:
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
    for size in sorted((s for s in sizes if s > 2), reverse=True):
        yield _changed(call, lambda n, size=size: (n + 1) // 2 if n == size else n)
        yield _changed(call, lambda n, size=size: n - 1 if n == size else n)


def _text(value: Any, names: Iterator[str], root: str) -> str:
    if isinstance(value, Argument):
        return next(names)
    if isinstance(value, Named):
        return f"{root}.{value.name}" if root else value.name
    if isinstance(value, list):
        return f"[{', '.join(_text(item, names, root) for item in value)}]"
    if isinstance(value, tuple):
        inner = ", ".join(_text(item, names, root) for item in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, float) and not math.isfinite(value):
        return f"float('{value}')"
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


def _changed(call: Call, change: Callable[[int], int]) -> Call:
    def apply(value: Any) -> Any:
        if isinstance(value, Argument):
            return value.cut(tuple(slice(0, change(n)) for n in value.shape))
        return change(value) if isinstance(value, int) and not isinstance(value, bool) else value

    return _mapped(call, apply)


def _without(value: Any, axis: int) -> Any:
    if isinstance(value, Argument) and axis < len(value.shape):
        return value.cut((slice(None),) * axis + (0,)) if value.shape[axis] else Argument(
            value.shape[:axis] + value.shape[axis + 1:], value.dtype)
    return value


def _mapped(call: Call, apply: Callable[[Any], Any]) -> Call:
    def walk(value: Any) -> Any:
        return type(value)(walk(item) for item in value) if isinstance(value, (list, tuple)) else apply(value)

    args = tuple(walk(arg) for arg in call.args)
    return msgspec.structs.replace(call, args=args, kwargs=tuple((key, walk(value)) for key, value in call.kwargs))
