"""The candidate reads a tensor in memory order and takes no notice of its strides."""

from __future__ import annotations

from typing import Iterator

import msgspec
import numpy as np

from minrepro.diagnose.scene import Scene
from minrepro.ir.reduction import Probe
from minrepro.ir.tensor import CONTIGUOUS

CAUSE = "source strides ignored"
SENTENCE = "the source is read in memory order: its strides are ignored"
WEIGHT = 9
IMPLIED_BY = ("destination strides ignored",)


def probes(scene: Scene) -> Iterator[Probe]:
    """Contiguous inputs must cure it; for a copy, the result must be the source's memory, item by item."""
    bent = [name for name in scene.case.graph.inputs if scene.case.feeds[name].layout != CONTIGUOUS]
    if not bent:
        return
    feeds = {name: tensor.contiguous() for name, tensor in scene.case.feeds.items()}
    cured = scene.retry(msgspec.structs.replace(scene.case, feeds=feeds))
    yield Probe(
        f"the same values with {', '.join(bent)} contiguous",
        "the divergence is gone",
        f"verdict {cured.verdict}",
        cured.verdict in ("same", "arithmetic"),
    )
    actual, expected = scene.actual, scene.expected
    for name in bent:
        source = scene.case.feeds[name]
        if actual is None or expected is None or not np.array_equal(source.view, expected.view):
            continue
        # What a flat copy of as many items, from the data pointer on, would give.
        memory = source.base.reshape(-1)[: source.size]
        seen = bool(memory.size == actual.size and np.array_equal(memory, actual.view.reshape(-1)))
        yield Probe(
            f"{name} flattened in memory order and reshaped",
            "bit for bit what the candidate stored",
            "equal" if seen else "different",
            seen,
        )
