"""An operator writes to an input that it should leave alone, or an in-place operator does not write."""

from __future__ import annotations

from typing import Iterator

import numpy as np

from minrepro import ops
from minrepro.diagnose.predict import by_value
from minrepro.diagnose.scene import Scene
from minrepro.ir.graph import Ref
from minrepro.ir.outcome import Completed
from minrepro.ir.reduction import Probe
from minrepro.ir.tensor import Tensor

CAUSE = "in-place aliasing"
SENTENCE = "an input is overwritten that should be left alone, or an in-place update is lost"
WEIGHT = 8


def probes(scene: Scene) -> Iterator[Probe]:
    """An input read again afterwards must have changed; an in-place update must not have."""
    if scene.symptom not in ("value", "nonfinite"):
        return
    rows = [(node, ops.find(node.op)) for node in scene.case.graph.nodes]
    written = {
        node.args[name].name
        for node, row in rows
        if row is not None
        for name in row.mutates
        if isinstance(node.args.get(name), Ref)
    }
    if written:
        kept = [
            (f"{name} as it was before", tensor.values if tensor.dtype.inexact else tensor.view)
            for name, tensor in scene.feeds.items()
            if name in written
        ]
        yield from by_value(scene, kept, "the input")
        return
    names = tuple(name for name in scene.case.graph.inputs if scene.feeds[name].size)
    returns = tuple(dict.fromkeys((*scene.case.graph.outputs, *names)))
    wrong, right = (scene.pair.run(scene.case, side, returns) for side in (scene.wrong, scene.right))
    if not isinstance(wrong, Completed) or not isinstance(right, Completed):
        return
    changed = [name for name in names if not _equal(wrong.values[name], scene.feeds[name])]
    due = [name for name in names if not _equal(right.values[name], scene.feeds[name])]
    more = [name for name in changed if name not in due]
    yield Probe(
        "the inputs read again after the step",
        "changed on the wrong side alone",
        f"{', '.join(more)} changed" if more else "no other change than on the right side",
        bool(more),
    )


def _equal(one: Tensor, other: Tensor) -> bool:
    return np.array_equal(one.values, other.values, equal_nan=True)
