"""A gradient step fails where an input that could have a gradient is not asked for one."""

from __future__ import annotations

from collections.abc import Iterator

from minrepro.diagnose.scene import Scene
from minrepro.ir.graph import Ref
from minrepro.ir.reduction import Probe
from minrepro.ops.gradient import forward, leaves, parameters

CAUSE = "frozen input"
SENTENCE = "the gradient fails where another input is frozen"
WEIGHT = 8


def probes(scene: Scene) -> Iterator[Probe]:
    """With a gradient by every input it must not fail."""
    node = scene.gradient
    if node is None:
        return
    reads, by = forward(node).inputs, parameters(node.op)[1]
    every = tuple(name for name in reads if scene.case.feeds[name].dtype.inexact)
    frozen = [name for name in every if name not in leaves(node)]
    if not frozen:
        return
    cured = scene.gone(scene.with_node(node, {by: tuple(map(Ref, every))}, outputs=[f"d_{name}" for name in every]))
    yield Probe(
        f"a gradient by {', '.join(frozen)} as well", f"no {scene.symptom} any more",
        "none" if cured else "the same, or another failure", cured,
    )
