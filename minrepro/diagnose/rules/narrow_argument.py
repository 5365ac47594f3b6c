"""The wrong side keeps a constant argument in float32 although its tensors are wider."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minrepro.diagnose.predict import by_case
from minrepro.diagnose.scene import Scene
from minrepro.ir.case import Case
from minrepro.ir.reduction import Probe

CAUSE = "narrow argument"
SENTENCE = "a constant argument is kept in float32 although the tensors are wider"
WEIGHT = 9


def probes(scene: Scene) -> Iterator[Probe]:
    """The argument rounded to float32 must give the wrong answer."""
    if scene.actual is not None and scene.actual.dtype.bits >= 64:
        yield from by_case(scene, _cases(scene))


def _cases(scene: Scene) -> Iterator[tuple[str, Case]]:
    names = dict.fromkeys(name for node in scene.case.graph.nodes for name in node.args)
    for name in ("negative_slope", "alpha", "beta", "eps", "value", "lower", "upper", *names):
        for node, value in scene.arguments(name):
            if isinstance(value, float) and np.isfinite(value) and float(np.float32(value)) != value:
                near = float(np.float32(value))
                yield f"{node.op} with {name}={near!r} instead of {value!r}", scene.with_node(node, {name: near})
