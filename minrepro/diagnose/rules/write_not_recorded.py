"""A write to an input, or to a copy of it, is not recorded: the gradient of what was overwritten comes back all the same."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minrepro import ops
from minrepro.diagnose.predict import by_value
from minrepro.diagnose.scene import Scene
from minrepro.ir.graph import Ref
from minrepro.ir.reduction import Probe
from minrepro.ops.gradient import differentiated, incoming

CAUSE = "write not recorded"
SENTENCE = "the write is not recorded: the gradient comes back as if nothing had been overwritten"
WEIGHT = 8

OVERWRITING = (
    "index_put", "index_copy", "index_fill", "masked_fill", "masked_scatter", "scatter", "slice_scatter", "select_scatter",
    "diagonal_scatter",
)
"""Operators that give a copy of which some elements are overwritten: a port writes to one."""


def probes(scene: Scene) -> Iterator[Probe]:
    """The incoming gradient, as it is, must be the wrong answer."""
    yield from by_value(scene, _passed(scene), "nothing written")


def _passed(scene: Scene) -> Iterator[tuple[str, np.ndarray]]:
    step = scene.undifferentiated()
    row = ops.find(differentiated(scene.case.graph.nodes[0].op))
    if step is None or row is None:
        return
    sent = incoming(scene.case.graph.nodes[0])[0]
    if sent is None:
        return
    params = row.mutates or (("self",) if row.name.split(".")[0] in OVERWRITING else ())
    written = [arg.name for name in params if isinstance(arg := step.graph.nodes[0].args.get(name), Ref)]
    if any(scene.divergence.output == f"d_{name}" for name in written):
        yield "the incoming gradient itself", scene.case.feeds[sent.name].values
