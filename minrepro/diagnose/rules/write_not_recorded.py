"""A step that writes to its input is not recorded: the gradient of what was overwritten comes back all the same."""

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
    written = [arg.name for name in row.mutates if isinstance(arg := step.graph.nodes[0].args.get(name), Ref)]
    if any(scene.divergence.output == f"d_{name}" for name in written):
        yield "the incoming gradient itself", scene.case.feeds[sent.name].values
