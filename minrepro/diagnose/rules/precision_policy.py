"""The wrong side computes in a narrower format than its tensors have."""

from __future__ import annotations

import math
from typing import Iterator

import numpy as np

from minrepro.compare.policy import Format, identify, implied, rounded
from minrepro.compare.verdict import CERTAIN, DOUBLE, SINGLE, bound
from minrepro.diagnose.predict import cure
from minrepro.diagnose.scene import Scene
from minrepro.ir.dtype import dtype
from minrepro.ir.reduction import Probe

CAUSE = "precision policy"
SENTENCE = "the step is computed in a narrower format than its tensors have"
WEIGHT = 8
IMPLIED_BY = ("narrow argument",)

HALF = {"float64": "float32", "complex128": "complex64"}
NEAR = 3.0
"""Bits between float32's roundoff and the one that the error implies."""


def probes(scene: Scene) -> Iterator[Probe]:
    """Float64 on rounded inputs, or rounded afterwards, must give the wrong answer."""
    actual, z = scene.actual, scene.truth
    if scene.symptom not in ("value", "nonfinite") or actual is None or not actual.dtype.inexact:
        return
    if z is None or z.shape != actual.shape or not np.isfinite(z).all() or actual.dtype.roundoff > SINGLE:
        return
    truth = scene.question.truth()
    s = truth.sensitivity[scene.divergence.output] if truth is not None else np.zeros(z.shape)
    if actual.dtype.roundoff == DOUBLE:
        yield from _single(scene, _numbers(actual.values), _numbers(z), _beside(s, z))
        return
    if actual.dtype.kind != "float":
        return
    exact = scene.question.kind in ("exact", "index", "rounded")
    scale = np.zeros(z.shape) if exact else scene.scale(z, actual)
    found = scene.divergence.policy or identify(
        scene.divergence.output, actual.values, z, s, scale, CERTAIN * bound(z.size), scene.question.rounded
    )
    guess = implied(actual.values - z, s)
    size = f"; the error implies a roundoff of 2**{guess:.1f}" if math.isfinite(guess) else ""
    yield Probe(
        "float64 with inputs or outputs rounded to TF32, bfloat16 or float16",
        "what the wrong side answers",
        f"equal with {found}{size}" if found else f"different{size}",
        bool(found),
    )


def _single(scene: Scene, y: np.ndarray, z: np.ndarray, s: np.ndarray) -> Iterator[Probe]:
    """Tensors of float64, or of pairs of it, and float32 arithmetic."""
    single = Format("float32", 24, "float32")
    relative = implied(y - z, np.sqrt(s**2 + z**2))
    cast = bool(np.all(rounded(y, single) == y)) and not bool(np.all(rounded(z, single) == z))
    yield Probe(
        "the unit roundoff that the error implies",
        f"2**-24, give or take {NEAR:g} bits, or a result that fits into float32",
        f"2**{relative:.1f}" + (", and it fits" if cast else ""),
        cast or abs(relative + 24.0) <= NEAR,
    )
    yield cure(
        scene,
        "the same step in float32",
        scene.with_feeds(lambda t: t.cast(dtype(HALF[t.dtype.name])), lambda t: t.dtype.name in HALF),
    )


def _numbers(values: np.ndarray) -> np.ndarray:
    """Real and imaginary parts as numbers of their own."""
    return np.stack([values.real, values.imag], -1) if values.dtype.kind == "c" else values


def _beside(s: np.ndarray, z: np.ndarray) -> np.ndarray:
    """The sensitivity of each number of a result: both parts have that of the whole."""
    return np.stack([np.abs(s)] * 2, -1) if z.dtype.kind == "c" else s
