"""Every member of a batch is right alone, and several together are not."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minrepro.diagnose.scene import Scene
from minrepro.ir.case import Case
from minrepro.ir.reduction import Probe
from minrepro.ir.tensor import Tensor

CAUSE = "batch"
SENTENCE = "every member of a batch is right alone, and several together are not: one is taken for another"
WEIGHT = 5
IMPLIED_BY = (
    "accumulation lost", "destination strides ignored", "flattened in memory order", "ill-conditioned step",
    "permuted channels", "source strides ignored", "transposed", "rank", "uninitialised memory", "axis",
    "argument ignored", "negative axis",
)

MOST = 4
"""Members that are asked for alone."""


def probes(scene: Scene) -> Iterator[Probe]:
    """Each of the first members must be right alone; a member more must not cure it."""
    sizes = {tensor.shape[0] for tensor in scene.feeds.values() if len(tensor.shape) > 1}
    size = max(sizes, default=0)
    if size < 2 or scene.symptom not in ("value", "nonfinite", "crash", "exception", "hang"):
        return
    alone = [scene.cured(_members(scene, size, [number])) for number in range(min(size, MOST))]
    yield Probe(
        f"each of the first {len(alone)} of {size} members alone", "both sides agree",
        f"they agree for {sum(alone)} of {len(alone)}", all(alone),
    )
    if all(alone):
        more = scene.retry(_members(scene, size, [*range(size), 0])).divergence
        same = more is not None and more.symptom == scene.symptom
        yield Probe("a batch of one member more", "the same divergence", "the same" if same else "another", same)


def _members(scene: Scene, size: int, numbers: list[int]) -> Case:
    """Some members of every tensor that has that many."""
    return scene.with_feeds(
        lambda t: Tensor(np.ascontiguousarray(t.view[numbers]), t.dtype), lambda t: t.shape[:1] == (size,)
    )
