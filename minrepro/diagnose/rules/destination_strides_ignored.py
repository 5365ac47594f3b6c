"""The candidate writes to a view as if its memory were dense."""

from __future__ import annotations

from typing import Iterator

import msgspec

from minrepro import ops
from minrepro.diagnose.scene import Scene
from minrepro.ir.graph import Ref
from minrepro.ir.reduction import Probe
from minrepro.ir.tensor import CONTIGUOUS

CAUSE = "destination strides ignored"
SENTENCE = "the write goes to the first items of the memory: the strides of the destination are ignored"
WEIGHT = 10


def probes(scene: Scene) -> Iterator[Probe]:
    """A contiguous destination must cure it."""
    written = set()
    for node in scene.case.graph.nodes:
        row = ops.find(node.op)
        names = row.mutates if row is not None else ()
        written |= {node.args[n].name for n in names if isinstance(node.args.get(n), Ref)}
    bent = [n for n in scene.case.graph.inputs if n in written and scene.case.feeds[n].layout != CONTIGUOUS]
    if not bent:
        return
    feeds = {n: t.contiguous() if n in bent else t for n, t in scene.case.feeds.items()}
    cured = scene.retry(msgspec.structs.replace(scene.case, feeds=feeds))
    yield Probe(
        f"the destination {', '.join(bent)} contiguous, everything else as it was",
        "the divergence is gone",
        f"verdict {cured.verdict}",
        cured.verdict in ("same", "arithmetic"),
    )
