"""The right values in the wrong places."""

from __future__ import annotations

from typing import Iterator

import numpy as np

from minrepro.diagnose.scene import Scene
from minrepro.ir.reduction import Probe

CAUSE = "elements in another order"
SENTENCE = "the result holds the right values in another order"
WEIGHT = 3
IMPLIED_BY = (
    "transposed",
    "flattened in memory order",
    "permuted channels",
    "source strides ignored",
    "destination strides ignored",
    "negative axis",
    "axis",
)


def probes(scene: Scene) -> Iterator[Probe]:
    """Sorted, both results must be equal."""
    actual, expected = scene.actual, scene.expected
    if scene.symptom not in ("value", "nonfinite") or actual is None or expected is None:
        return
    if actual.size != expected.size or actual.size < 2:
        return
    seen = bool(np.array_equal(np.sort(actual.view, axis=None), np.sort(expected.view, axis=None)))
    yield Probe("sort both results", "equal", "equal" if seen else "different", seen)
