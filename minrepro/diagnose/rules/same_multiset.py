"""The right values in the wrong places."""

from __future__ import annotations

from typing import Iterator

import numpy as np

from minrepro.diagnose import Scene
from minrepro.ir.reduction import Probe

CAUSE = "elements in another order"
SENTENCE = "the result holds the right values in another order"
WEIGHT = 3


def probes(scene: Scene) -> Iterator[Probe]:
    """Sorted, both results must be equal."""
    actual, expected = scene.actual, scene.expected
    if actual is None or expected is None or actual.size != expected.size or actual.size < 2:
        return
    seen = bool(np.array_equal(np.sort(actual.view, axis=None), np.sort(expected.view, axis=None)))
    yield Probe("sort both results", "equal", "equal" if seen else "different", seen)
