"""The wrong side computes, or answers, in another dtype than promotion says."""

from __future__ import annotations

from typing import Iterator

import numpy as np

from minrepro.diagnose.predict import by_value
from minrepro.diagnose.scene import Scene
from minrepro.ir.dtype import DTYPES, DType, from_float64
from minrepro.ir.reduction import Probe
from minrepro.ir.tensor import Tensor

CAUSE = "dtype promotion"
SENTENCE = "the operator computes or answers in another dtype than promotion says"
WEIGHT = 7
IMPLIED_BY = ("another operator",)

WIDTHS = ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool")


def probes(scene: Scene) -> Iterator[Probe]:
    """The right values in the other dtype, or a detour through another dtype, must give the wrong answer."""
    actual, expected = scene.actual, scene.expected
    if actual is None or expected is None or actual.shape != expected.shape:
        return
    if scene.symptom == "dtype":
        what, seen = f"the right values as {actual.dtype}", _same_values(expected, actual)
        computed = _computed(scene, actual.dtype) if not seen and actual.dtype.inexact else None
        if computed is not None and computed.shape == actual.shape:
            what, seen = f"{scene.right.title} with the integers as {actual.dtype}", _same_values(computed, actual)
        yield Probe(what, "the wrong answer", "equal" if seen else "different", seen)
    elif not expected.dtype.inexact and expected.dtype.kind != "bool":
        yield from by_value(scene, (*_detours(expected), *_cut(scene, expected)))


def _computed(scene: Scene, to: DType) -> Tensor | None:
    """What the right side computes from floating-point numbers in place of integers."""
    return scene.predicted(scene.with_feeds(lambda t: t.cast(to), lambda t: t.dtype.kind in ("int", "uint")))


def _cut(scene: Scene, expected: Tensor) -> Iterator[tuple[str, np.ndarray]]:
    """The same, its fractions cut off."""
    computed = _computed(scene, DTYPES["float64"])
    if computed is not None and computed.dtype.inexact and np.isfinite(computed.values).all():
        if (np.abs(computed.values) < 2.0**62).all():
            value = computed.values.astype(np.int64).astype(expected.dtype.storage)
            if value.shape == expected.shape and not np.array_equal(value, expected.view):
                yield f"{scene.right.title} with the integers as float64, fractions cut off", value


def _same_values(expected: Tensor, actual: Tensor) -> bool:
    """Equal up to what the narrower of two dtypes can tell apart."""
    x, y = expected.values, actual.values
    if expected.dtype.kind == "complex" and actual.dtype.kind != "complex":
        return False
    unit = max(expected.dtype.roundoff, actual.dtype.roundoff)
    with np.errstate(all="ignore"):
        if "bool" in (actual.dtype.kind, expected.dtype.kind):
            return bool(np.array_equal(x != 0, y != 0))
        if not actual.dtype.inexact:
            x = np.trunc(x)
        equal = (x == y) | (np.isnan(x) & np.isnan(y)) | (np.abs(x - y) <= 64.0 * unit * np.abs(x))
    return bool(equal.all())


def _detours(expected: Tensor) -> Iterator[tuple[str, np.ndarray]]:
    for name in WIDTHS:
        through = DTYPES[name]
        if through == expected.dtype:
            continue
        with np.errstate(all="ignore"):
            if through.inexact:
                narrow = from_float64(expected.view.astype(np.float64), through).astype(np.float64)
                back = np.where(np.isfinite(narrow), narrow, 0.0)
                fits = np.abs(back) < 2.0**63
                value = np.where(fits, back, 0.0).astype(expected.dtype.storage)
            else:
                value = expected.view.astype(through.storage).astype(expected.dtype.storage)
        if not np.array_equal(value, expected.view):
            yield f"the right values through {name}", value
