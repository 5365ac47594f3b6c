"""The wrong side pads by another amount, with another value, or counts padded elements otherwise."""

from __future__ import annotations

import math
from typing import Any, Iterator

import msgspec
import numpy as np

from minrepro.diagnose.predict import by_argument, by_case, by_value, per_axis
from minrepro.diagnose.scene import Scene
from minrepro.ir.case import Case
from minrepro.ir.graph import Node, Ref
from minrepro.ir.reduction import Probe

CAUSE = "padding"
SENTENCE = "the border is padded by another amount, with other values, or counted in another way"
WEIGHT = 8


def probes(scene: Scene) -> Iterator[Probe]:
    """Another border must give the wrong answer."""
    found = [
        *by_argument(scene, "count_include_pad", lambda node, flag: [not flag]),
        *by_argument(scene, "padding", _amounts),
        *by_argument(
            scene,
            "mode",
            lambda node, m: [o for o in ("replicate", "reflect", "circular") if o != m] if "pad" in node.op else [],
        ),
        *by_case(scene, _filled(scene)),
        *by_value(scene, _divided(scene), scene.right.title),
    ]
    good = [probe for probe in found if probe.confirmed]
    yield from good[:1] or found[:1]


def _amounts(node: Node, padding: Any) -> list[Any]:
    if not isinstance(padding, (int, tuple)):
        return []
    sizes = (padding,) if isinstance(padding, int) else padding
    tried = [tuple(s + d for s in sizes) for d in (-1, 1)] + [(0,) * len(sizes)]
    return [t[0] if isinstance(padding, int) else t for t in tried if min(t, default=-1) >= 0 and t != sizes]


def _divided(scene: Scene) -> Iterator[tuple[str, np.ndarray]]:
    """An average that leaves the border out, scaled as if it had counted all of the window."""
    for node, divisor in scene.arguments("divisor_override"):
        sizes = per_axis(node, node.args.get("kernel_size"))
        if divisor and sizes:
            count = math.prod(sizes)
            inner = scene.predicted(scene.with_node(node, {"count_include_pad": False}, drop=("divisor_override",)))
            if inner is not None:
                yield f"{node.op} of what is not padding, times {count} / {divisor}", inner.values * count / divisor


def _filled(scene: Scene) -> Iterator[tuple[str, Case]]:
    """The border made by a step of its own, with other values, and none by the operator."""
    for node, padding in scene.arguments("padding"):
        sizes = (padding,) if isinstance(padding, int) else padding
        first = next((name for name in ("self", "input") if isinstance(node.args.get(name), Ref)), None)
        if not isinstance(sizes, tuple) or not any(sizes) or first is None:
            continue
        spatial = 1 if "1d" in node.op else 3 if "3d" in node.op else 2
        sizes = sizes * spatial if len(sizes) == 1 else sizes
        widths = tuple(width for size in reversed(sizes) for width in (size, size))
        for mode in ("constant", "replicate", "reflect", "circular"):
            border = Node("pad", {"self": node.args[first], "pad": widths, "mode": mode}, ("border",))
            bare = msgspec.structs.replace(node, args={**node.args, first: Ref("border"), "padding": (0,) * spatial})
            nodes = tuple(
                part for other in scene.case.graph.nodes for part in ((border, bare) if other is node else (other,))
            )
            graph = msgspec.structs.replace(scene.case.graph, nodes=nodes)
            text = "zeros" if mode == "constant" else f"the mode {mode!r}"
            yield f"{node.op} on a border padded with {text}", msgspec.structs.replace(scene.case, graph=graph)
