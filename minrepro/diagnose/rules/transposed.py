"""The right result with its axes in another order: a square matrix turned, or a shape permuted."""

from __future__ import annotations

from itertools import permutations
from typing import Iterator

import numpy as np

from minrepro.diagnose.scene import Scene
from minrepro.ir.reduction import Probe

CAUSE = "transposed"
SENTENCE = "the result is the right one with its axes in another order"
WEIGHT = 5

MOST = 5
"""Axes up to which every order is tried."""


def probes(scene: Scene) -> Iterator[Probe]:
    """The right result with its axes in some other order must be the wrong one."""
    actual, expected = scene.actual, scene.expected
    if scene.symptom not in ("value", "nonfinite", "shape") or actual is None or expected is None:
        return
    rank = len(expected.shape)
    if not 2 <= rank <= MOST or len(actual.shape) != rank or not expected.size:
        return
    if (expected.view == expected.view.flat[0]).all():
        return
    # Few axes move most often.
    orders = sorted(permutations(range(rank)), key=lambda order: sum(axis != i for i, axis in enumerate(order)))
    fitting = [order for order in orders[1:] if tuple(expected.shape[axis] for axis in order) == actual.shape]
    for order in fitting:
        if np.array_equal(np.transpose(expected.view, order), actual.view):
            yield Probe(f"the axes of the right result in the order {order}", "the wrong one", "equal", True)
            return
    if fitting:
        yield Probe("the axes of the right result in another order", "the wrong one", "different", False)
