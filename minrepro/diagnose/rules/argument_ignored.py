"""The wrong side takes no notice of an argument."""

from __future__ import annotations

from typing import Iterator

from minrepro import ops
from minrepro.diagnose.predict import by_case
from minrepro.diagnose.scene import Scene
from minrepro.ir.case import Case
from minrepro.ir.graph import Ref
from minrepro.ir.reduction import Probe
from minrepro.ops.row import REQUIRED

CAUSE = "argument ignored"
SENTENCE = "an argument has no effect: the answer is that of its default"
WEIGHT = 7
IMPLIED_BY = (
    "ceil_mode",
    "align_corners",
    "padding",
    "epsilon",
    "ddof",
    "approximate formula",
    "bias twice or missing",
    "axis",
)


def probes(scene: Scene) -> Iterator[Probe]:
    """The default of an argument must give the wrong answer."""
    yield from by_case(scene, _defaults(scene))


def _defaults(scene: Scene) -> Iterator[tuple[str, Case]]:
    for node in scene.case.graph.nodes:
        row = ops.find(node.op)
        for name, default in row.params.items() if row is not None else ():
            given = node.args.get(name, default)
            if default is REQUIRED or given == default or (name == "bias" and isinstance(given, Ref)):
                continue
            yield f"{node.op} without {name}", scene.with_node(node, drop=(name,))
        for name in ("stride", "dilation", "groups"):
            given = node.args.get(name)
            plain = (1,) * len(given) if isinstance(given, tuple) else 1
            if given not in (None, plain, ()):
                yield f"{node.op} with {name}={plain}", scene.with_node(node, {name: plain})
