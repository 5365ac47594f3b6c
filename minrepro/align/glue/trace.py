"""What one call of a unit computed on one side: steps with texts, values and operands, as `inside.recorder` noted them."""

from __future__ import annotations

import re
from typing import Any, Mapping

import msgspec
import numpy as np

HOLE = re.compile("\u00ab(\\d+)\u00bb")
"""A hole in a step's text, with the number of an operand."""
CLOSE = 1e-5
"""Difference, over the root mean square, that a few float32 steps on equal inputs explain."""


class Node(msgspec.Struct, frozen=True):
    """One step.

    Attributes:
        kind: ``op``, ``plain`` (a Python value), ``display`` (a list or tuple), ``input``, ``write`` (an item
            assignment), ``const``, ``global``, ``opaque`` (a value without a text), ``entering`` (a part is called),
            ``raised``.
        text: in the user's spelling, with a hole for each operand.
        operands: numbers of the steps that go in.
        uses: global name -> the line that imports it.
        line: in the user's file.
        plain: Python literal of a plain value.
        literal: written as a literal in the source.
        name, label: the variable that it was assigned to; what else it may be called.
        unit, call, leaves: of a part: which, how often called before, the steps that hold its inputs.
        error, message: of what was raised.
    """

    kind: str
    text: str
    operands: tuple[int, ...]
    uses: Mapping[str, str]
    line: int
    plain: str | None = None
    literal: bool = False
    name: str = ""
    label: str = ""
    unit: str = ""
    call: int = 0
    leaves: tuple[int, ...] = ()
    error: str = ""
    message: str = ""


class Trace(msgspec.Struct):
    """One call.

    Attributes:
        nodes: its steps, in order.
        outputs: the steps that hold what it returned.
        values: step -> value, for tensors.
        file, line, name: of the function.
    """

    nodes: list[Node]
    outputs: list[int]
    values: dict[int, np.ndarray]
    file: str
    line: int
    name: str

    def plainly(self, number: int) -> int:
        """The step that has the same value without what changes nothing: ``.contiguous()``, dropout in evaluation."""
        while True:
            node = self.nodes[number]
            first = node.operands[0] if node.operands else -1
            if node.kind not in ("op", "opaque") or first not in self.values or number not in self.values:
                return number
            if node.kind == "opaque" and len(node.operands) != 1 or not identical(self.values[first], self.values[number]):
                return number
            number = first

    def cone(self, root: int, cut: frozenset[int] | set[int], through: bool = True) -> list[int]:
        """Steps that a root needs, down to the cut, operands first.

        Args:
            root: where to start.
            cut: steps that are given.
            through: look into the root even if it is part of the cut.
        """
        found: dict[int, None] = {}

        def visit(number: int, top: bool) -> None:
            number = number if top else self.plainly(number)
            if number in found:
                return
            node = self.nodes[number]
            if (number not in cut or top and through) and node.kind not in ("plain", "const", "global", "opaque", "input"):
                for operand in node.operands:
                    visit(operand, False)
            found[number] = None

        visit(root, True)
        return list(found)


def read(text: str) -> Any:
    """The value of a plain literal; ``inf`` and ``nan`` are names in it."""
    return eval(text, {"__builtins__": {}}, {"inf": float("inf"), "nan": float("nan")})


def identical(a: np.ndarray, b: np.ndarray) -> bool:
    """Same shape, dtype and bits."""
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def gap(a: np.ndarray, b: np.ndarray) -> float:
    """Largest difference of two arrays of one shape over the root mean square of the first; inf where one is not finite."""
    if not a.size:
        return 0.0
    if a.dtype.kind in "bui" and b.dtype.kind in "bui":
        return 0.0 if np.array_equal(a, b) else np.inf
    with np.errstate(all="ignore"):
        x, y = a.astype(np.float64), b.astype(np.float64)
        if not np.array_equal(np.isfinite(x), np.isfinite(y)):
            return np.inf
        fine = np.isfinite(x)
        odd = ~fine
        if odd.any() and not np.array_equal(np.nan_to_num(x[odd], nan=7.0), np.nan_to_num(y[odd], nan=7.0)):
            return np.inf
        if not fine.any():
            return 0.0
        size = np.max(np.abs(x[fine]))
        largest = float(np.max(np.abs(x - y)[fine]))
        root = float(np.sqrt(np.mean((x[fine] / size) ** 2))) * size if size else 0.0
        return largest / root if root else (np.inf if largest else 0.0)


def close(a: np.ndarray, b: np.ndarray) -> bool:
    """Equal up to the rounding of a few steps."""
    return a.shape == b.shape and a.dtype == b.dtype and gap(a, b) <= CLOSE
