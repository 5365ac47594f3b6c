"""The wrong side takes two operands in the other order."""

from __future__ import annotations

from typing import Iterator

from minrepro import ops
from minrepro.diagnose.predict import by_case
from minrepro.diagnose.scene import Scene
from minrepro.ir.case import Case
from minrepro.ir.reduction import Probe

CAUSE = "operands swapped"
SENTENCE = "two operands are taken in the other order"
WEIGHT = 7

ORDERED = (("self", "other"), ("self", "exponent"), ("query", "key"), ("min", "max"), ("weight", "bias"))


def probes(scene: Scene) -> Iterator[Probe]:
    """The operands in the other order must give the wrong answer."""
    yield from by_case(scene, _cases(scene))


def _cases(scene: Scene) -> Iterator[tuple[str, Case]]:
    for node in scene.case.graph.nodes:
        row = ops.find(node.op)
        for one, other in ORDERED:
            if row is None or row.mutates or node.args.get(one) is None or node.args.get(other) is None:
                continue
            if node.args[one] != node.args[other]:
                yield (
                    f"{node.op} with {one} and {other} swapped",
                    scene.with_node(node, {one: node.args[other], other: node.args[one]}),
                )
