"""The wrong side mistakes an axis that is counted from the end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from minrepro.diagnose.predict import cure
from minrepro.diagnose.scene import Scene
from minrepro.ir.graph import Node
from minrepro.ir.reduction import Probe

CAUSE = "negative axis"
SENTENCE = "an axis that is counted from the end is mistaken"
WEIGHT = 7

NAMES = ("dim", "dims", "dim0", "dim1", "dim2", "dimension", "axis", "start_dim", "end_dim")


def probes(scene: Scene) -> Iterator[Probe]:
    """The same axis counted from the front must cure it."""
    for node in scene.case.graph.nodes:
        front = {name: _front(scene, node, node.args[name]) for name in NAMES if name in node.args}
        changed = {name: value for name, value in front.items() if value != node.args[name]}
        if changed:
            text = ", ".join(f"{name}={value} instead of {node.args[name]}" for name, value in changed.items())
            yield cure(scene, f"{node.op} with {text}", scene.with_node(node, changed))
            return


def _front(scene: Scene, node: Node, dim: Any) -> Any:
    """An axis, or several, counted from the front of the step's first tensor."""
    if isinstance(dim, tuple):
        return tuple(_front(scene, node, part) for part in dim)
    first = next((scene.case.feeds[name] for name in node.inputs if name in scene.case.feeds), None)
    if first is None or isinstance(dim, bool) or not isinstance(dim, int) or dim >= 0:
        return dim
    return dim + len(first.shape)
