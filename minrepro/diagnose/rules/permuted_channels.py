"""The slices of the result along one axis are right and stand in another order."""

from __future__ import annotations

from typing import Iterator

import numpy as np

from minrepro.diagnose.scene import Scene
from minrepro.ir.reduction import Probe
from minrepro.ir.tensor import Tensor

CAUSE = "permuted channels"
SENTENCE = "the slices along one axis are right but stand in another order"
WEIGHT = 6

MOST = 4096
"""Slices along an axis that are compared."""


def probes(scene: Scene) -> Iterator[Probe]:
    """Some order of the slices along one axis must give the wrong answer."""
    actual, expected = scene.actual, scene.expected
    if actual is None or expected is None or actual.shape != expected.shape or len(actual.shape) < 2:
        return
    axes = [axis for axis, size in enumerate(actual.shape) if 1 < size <= MOST and actual.size > size]
    for axis in axes:
        order = _order(actual, expected, axis)
        if order is not None and scene.explains(np.take(_values(expected), order, axis)):
            text = f"{order[:12]}{'...' if len(order) > 12 else ''}"
            yield Probe(f"the right slices along axis {axis} in the order {text}", "the wrong answer", "equal", True)
            return
    if axes:
        yield Probe(
            f"the right slices along axis {', '.join(map(str, axes))} in another order",
            "the wrong answer",
            "different",
            False,
        )


def _values(tensor: Tensor) -> np.ndarray:
    return tensor.values if tensor.dtype.inexact else tensor.view


def _order(actual: Tensor, expected: Tensor, axis: int) -> list[int] | None:
    """Which right slice each wrong slice is: the nearest one, each used once."""
    x = np.moveaxis(_values(expected), axis, 0).reshape(expected.shape[axis], -1)
    y = np.moveaxis(_values(actual), axis, 0).reshape(expected.shape[axis], -1)
    # A random projection tells slices apart in one number each.
    with np.errstate(all="ignore"):
        weights = np.random.RandomState(0).standard_normal(x.shape[1])
        p, q = np.nan_to_num(x) @ weights, np.nan_to_num(y) @ weights
    by_p, by_q = np.argsort(p, kind="stable"), np.argsort(q, kind="stable")
    order = np.empty(len(p), int)
    order[by_q] = by_p
    found = [int(i) for i in order]
    return None if found == list(range(len(found))) else found
