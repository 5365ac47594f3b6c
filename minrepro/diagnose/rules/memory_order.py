"""The right elements one after the other in the order of other axes: a buffer filled, or read, as if it were turned."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import numpy as np

from minrepro.diagnose.rules.transposed import MOST
from minrepro.diagnose.scene import Scene
from minrepro.ir.reduction import Probe

CAUSE = "flattened in memory order"
SENTENCE = "the elements are taken, or put, one after the other along the memory and not along the axes"
WEIGHT = 5
IMPLIED_BY = ("transposed", "source strides ignored", "destination strides ignored", "permuted channels", "axis")


def probes(scene: Scene) -> Iterator[Probe]:
    """The right result flattened along its axes in another order must be the wrong one."""
    actual, expected = scene.actual, scene.expected
    if scene.symptom not in ("value", "nonfinite") or actual is None or expected is None:
        return
    rank = sum(extent > 1 for extent in expected.shape)
    if actual.shape != expected.shape or not 2 <= rank or len(expected.shape) > MOST:
        return
    wrong = actual.view.reshape(-1)
    for order in permutations(range(len(expected.shape))):
        if np.array_equal(np.transpose(expected.view, order).reshape(-1), wrong):
            yield Probe(f"the right result flattened along the axes {order}", "the wrong one", "equal", True)
            return
    yield Probe("the right result flattened along its axes in another order", "the wrong one", "different", False)
