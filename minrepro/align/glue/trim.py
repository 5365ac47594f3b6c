"""Take away what changes nothing: an edit of one side's text is legal if that side still gives the same value.

It has to, to the last bit, on the recorded inputs at their full size, on the shrunk ones, and on the shrunk ones with
other values. So the two texts never come nearer to each other, and never drift apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from minrepro.align.glue import passes
from minrepro.align.glue.oracle import Oracle
from minrepro.align.glue.spelling import Function, tidy
from minrepro.align.glue.trace import identical

if TYPE_CHECKING:
    from minrepro.align.glue.reduce import Reducer, Small

TRIALS = 24
"""Edits of one body that are tried."""


def trim(small: Small, reducer: Reducer, oracle: Oracle) -> Small:
    """The pair with every edit made that changes nothing on its own side."""
    bodies = list(small.functions)
    full = reducer.full()
    for side in (0, 1):
        if small.results[side].value is None:
            continue
        grounds = [(full[side], reducer.pair.inputs), (bodies[side], small.inputs), (bodies[side], _other(small.inputs))]
        bodies[side] = _trimmed(side, grounds, oracle)
    used = {name: value for name, value in small.inputs.items() if any(name in body.used for body in bodies)}
    return msgspec.structs.replace(small, functions=(bodies[0], bodies[1]), inputs=used)


def _other(inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    random = np.random.RandomState(1)
    return {
        name: random.standard_normal(value.shape).astype(value.dtype) if value.dtype.kind == "f" else value
        for name, value in inputs.items()
    }


def _trimmed(side: int, grounds: list, oracle: Oracle) -> Function:
    """The second ground's body, edited wherever all grounds agree that it is the same."""
    bodies = [body for body, _ in grounds]
    due = [oracle.run(side, body, inputs).value for body, inputs in grounds]
    tried = 0
    progress = True
    while progress and tried < TRIALS:
        progress = False
        for edit in passes.edits("\n".join(bodies[1].lines)):
            tried += 1
            made = [_edited(body, edit) for body in bodies]
            if any(body is None for body in made) or tried > TRIALS:
                continue
            results = [oracle.run(side, body, inputs).value for body, (_, inputs) in zip(made, grounds)]
            if all(_same(a, b) for a, b in zip(due, results)):
                bodies, progress = made, True
                break
    return bodies[1]


def _same(a: np.ndarray | None, b: np.ndarray | None) -> bool:
    return a is not None and b is not None and identical(a, b)


def _edited(body: Function, edit: passes.Edit) -> Function | None:
    source = passes.apply("\n".join(body.lines), edit)
    if source is None:
        return None
    return rebuilt(body, passes.inline(source))


def rebuilt(body: Function, source: str) -> Function:
    """A body from edited source: its inputs and imports are those that it still names."""
    lines = tuple(tidy(line) for line in source.splitlines() if line.strip())
    names = passes.names(source)
    imports = tuple(line for line in body.imports if passes.bound(line) in names)
    used = tuple(name for name in body.used if name in names)
    return Function(lines, imports, used, len({e.place for e in passes.edits(source)}))
