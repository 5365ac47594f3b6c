"""The candidate's square matrix is the transpose of what it should be."""

from __future__ import annotations

from typing import Iterator

import numpy as np

from minrepro.diagnose.scene import Scene
from minrepro.ir.reduction import Probe

CAUSE = "transposed"
SENTENCE = "the result is the transpose of the right one"
WEIGHT = 5


def probes(scene: Scene) -> Iterator[Probe]:
    """The last two axes swapped must give the right result."""
    actual, expected = scene.actual, scene.expected
    if actual is None or expected is None or len(actual.shape) < 2 or actual.shape != expected.shape:
        return
    turned = np.swapaxes(actual.view, -1, -2)
    if turned.shape != expected.shape:
        return
    seen = bool(np.array_equal(turned, expected.view))
    yield Probe(
        "swap the last two axes of the result", "equal to the right one", "equal" if seen else "different", seen
    )
