"""Runs the body of a function on one side, on given inputs, in a process of its own."""

from __future__ import annotations

from typing import Mapping

import msgspec
import numpy as np

from minrepro.align.glue.spelling import Function
from minrepro.align.glue.trace import close, gap
from minrepro.backends.program import Feed, Program, Step
from minrepro.compare.pair import Side
from minrepro.ir.outcome import Completed, Raised
from minrepro.ir.tensor import Tensor

DEADLINE = 20.0
"""Seconds for a few steps on small inputs."""
CLEAR = 1e-3
"""A difference of this share of the root mean square is no rounding."""


class Result(msgspec.Struct, frozen=True):
    """What came of a body: a value, or the class of an exception, or neither if it cannot be told."""

    value: np.ndarray | None = None
    error: str = ""
    message: str = ""


class Oracle:
    """Asks both sides, and counts.

    Args:
        reference, port: the sides.
    """

    def __init__(self, reference: Side, port: Side):
        self.sides = (reference, port)
        self.queries = 0
        self.known: dict[tuple, Result] = {}

    def run(self, side: int, function: Function, inputs: Mapping[str, np.ndarray]) -> Result:
        """Run a body on one side (0 the reference, 1 the port)."""
        given = {name: inputs[name] for name in function.used}
        key = (side, function.lines, tuple((n, a.shape, a.dtype.str, a.tobytes()) for n, a in given.items()))
        if key not in self.known:
            self.known[key] = self._ask(side, function, given)
        return self.known[key]

    def _ask(self, side: int, function: Function, given: Mapping[str, np.ndarray]) -> Result:
        self.queries += 1
        lines = [*function.imports, *function.lines[:-1], "output" + function.lines[-1].replace("return ", " = ", 1)]
        feeds = tuple(Feed(name, name, False, ()) for name in given)
        program = Program(feeds, (Step("", tuple(lines), ()),), {"output": "output"})
        tensors = {name: Tensor(array) for name, array in given.items()}
        outcome = self.sides[side].worker.run(program, tensors, ("output",), deadline=DEADLINE)
        if isinstance(outcome, Completed):
            value = outcome.values["output"]
            if value.dtype.name == "bfloat16":
                return Result()
            return Result(np.ascontiguousarray(value.view).reshape(value.shape))
        return Result(error=outcome.kind, message=outcome.message) if isinstance(outcome, Raised) else Result()


def symptom(reference: Result, port: Result) -> str:
    """How two results differ: ``exception``, ``shape``, ``dtype``, ``nonfinite``, ``value``; "" if they do not clearly."""
    if reference.value is None:
        return ""
    if port.value is None:
        return f"exception {port.error}" if port.error else ""
    a, b = reference.value, port.value
    if a.shape != b.shape:
        return "shape"
    if a.dtype != b.dtype:
        return "dtype"
    if not a.size or close(a, b):
        return ""
    if a.dtype.kind == "f" and not np.array_equal(np.isfinite(a), np.isfinite(b)):
        return "nonfinite"
    return "value" if gap(a, b) > CLEAR else "small value"
