"""A zero in the inputs, or a spread of zero, is divided by on the way to a result that is finite."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minrepro.diagnose.predict import cure
from minrepro.diagnose.scene import Scene
from minrepro.ir.dtype import from_float64, to_float64
from minrepro.ir.reduction import Probe
from minrepro.ir.tensor import Tensor

CAUSE = "division by zero"
SENTENCE = "a zero of the inputs is divided by, although the result is finite"
WEIGHT = 6
IMPLIED_BY = ("infinity", "NaN propagation", "overflow", "integer division and modulo", "special path of size 0 or 1")


def probes(scene: Scene) -> Iterator[Probe]:
    """The right result must be finite and the wrong one not; other numbers in the place of zeros must cure it."""
    actual, expected = scene.actual, scene.expected
    if scene.symptom != "nonfinite" or actual is None or expected is None or not actual.dtype.inexact:
        return
    zeros = [name for name, t in scene.feeds.items() if t.dtype.kind == "float" and (t.values == 0).any()]
    if not zeros:
        return
    good = bool(np.isfinite(expected.values).all() and not np.isfinite(actual.values).all())
    seen = "the wrong one alone is not" if good else "otherwise"
    yield Probe("are the two results finite", "the wrong one alone is not", seen, good)
    if good:
        case = scene.with_feeds(_filled, lambda t: t.dtype.kind == "float")
        yield cure(scene, f"other numbers in the place of zeros in {', '.join(zeros)}", case)


def _filled(tensor: Tensor) -> Tensor:
    values = to_float64(tensor.base, tensor.dtype)
    numbers = 1.0 + np.arange(values.size).reshape(values.shape) % 5 / 8
    return tensor.with_base(from_float64(np.where(values == 0, numbers, values), tensor.dtype))
