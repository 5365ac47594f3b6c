"""The wrong side works along another axis."""

from __future__ import annotations

from typing import Any, Iterator

from minrepro.diagnose.predict import by_argument
from minrepro.diagnose.scene import Scene
from minrepro.ir.graph import Node, Ref
from minrepro.ir.reduction import Probe

CAUSE = "axis"
SENTENCE = "the operator works along another axis"
WEIGHT = 8


def probes(scene: Scene) -> Iterator[Probe]:
    """One of the other axes must give the wrong answer."""
    ranks = [len(tensor.shape) for tensor in scene.feeds.values()]
    rank = max(ranks, default=0)

    def others(node: Node, dim: Any) -> list[Any]:
        if isinstance(dim, bool) or not isinstance(dim, (int, tuple)) or isinstance(dim, Ref):
            return []
        if isinstance(dim, int):
            return [axis for axis in range(rank) if axis != dim % max(rank, 1)]
        return [(axis,) for axis in range(rank) if (axis,) != tuple(d % rank for d in dim)] if len(dim) == 1 else []

    yield from by_argument(scene, "dim", others)
