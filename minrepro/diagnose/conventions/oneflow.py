"""OneFlow's conventions, as the documentation of its 0.9 release has them."""

from __future__ import annotations

from typing import Iterator

import numpy as np

from minrepro.diagnose.conventions import Convention
from minrepro.diagnose.predict import by_value
from minrepro.diagnose.rules import dtype_promotion
from minrepro.diagnose.scene import Scene
from minrepro.ir.reduction import Probe


def _sign_of_the_dividend(scene: Scene) -> Iterator[Probe]:
    """C's remainder of the same operands."""
    node = scene.case.graph.nodes[0]
    x, y = (scene.tensor(node, name) for name in ("self", "other"))
    divisor = node.args.get("other") if y is None else y.values if y.dtype.inexact else y.view
    if x is None or not isinstance(divisor, (int, float, np.ndarray)):
        return
    with np.errstate(all="ignore"):
        value = np.fmod(x.values if x.dtype.inexact else x.view, divisor)
    yield from by_value(scene, [("the remainder with the sign of the dividend", value)])


def _narrow_indices(scene: Scene) -> Iterator[Probe]:
    """The right indices as int32; among equal values any of them is right."""
    actual, expected = scene.actual, scene.expected
    if actual is None or expected is None or actual.dtype.inexact or actual.shape != expected.shape:
        return
    at, name = scene.question.at, scene.divergence.output
    found, due = at(name, actual.view), at(name, expected.view)
    if np.array_equal(actual.view, expected.view) or found is None or due is None:
        yield from dtype_promotion.probes(scene)
        return
    same = np.array_equal(found, due, equal_nan=due.dtype.kind in "fc")
    yield Probe(
        f"what stands at the indices, read as {expected.dtype}", f"what stands at those of {scene.right.title}",
        "equal" if same else "different", same,
    )


def _by_the_factor(scene: Scene) -> Iterator[Probe]:
    """Every axis interpolated at the positions that its factor gives, also where its size stays."""
    node, actual = scene.case.graph.nodes[0], scene.actual
    image = scene.tensor(node, "input" if "input" in node.args else "self")
    factors = node.args.get("scale_factors") or tuple(node.args.get(name) for name in ("scales_d", "scales_h", "scales_w"))
    factors = tuple(factor for factor in factors if factor) or (node.args.get("scales"),)
    if image is None or actual is None or None in factors or node.args.get("align_corners"):
        return
    kept = [axis for axis in range(-len(factors), 0) if image.shape[axis] == actual.shape[axis]]
    if not kept or len(factors) != len(image.shape) - 2 or all(factors[axis] == 1.0 for axis in kept):
        return
    value = image.values
    for axis in range(-len(factors), 0):
        value = _interpolated(value, axis, actual.shape[axis], factors[axis])
    yield from by_value(scene, [("every position divided by the factor, where the size stays as well", value)])


def _interpolated(values: np.ndarray, axis: int, size: int, factor: float) -> np.ndarray:
    last = values.shape[axis] - 1
    at = np.maximum((np.arange(size) + 0.5) / factor - 0.5, 0.0)
    low = np.minimum(at.astype(np.int64), last)
    shape = [1] * values.ndim
    shape[axis] = size
    part = np.minimum(at - low, 1.0).reshape(shape)
    return np.take(values, low, axis) * (1.0 - part) + np.take(values, np.minimum(low + 1, last), axis) * part


_LINEAR = ("upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d")
_INDICES = "indices are int64 in torch and int32 in OneFlow"

CONVENTIONS = (
    Convention(
        "dtype of argsort",
        ("argsort",),
        _INDICES,
        "oneflow.argsort(x, dim).to(oneflow.int64)",
        "oneflow.argsort",
        "dtype=oneflow.int32",
        symptoms=("dtype",),
        probes=_narrow_indices,
    ),
    Convention(
        "dtype of sort's indices",
        ("sort",),
        _INDICES,
        "values, indices = oneflow.sort(x, dim); indices = indices.to(oneflow.int64)",
        "oneflow.sort",
        "Tuple(oneflow.Tensor, oneflow.Tensor(dtype=int32))",
        symptoms=("dtype",),
        probes=_narrow_indices,
    ),
    Convention(
        "dtype of argwhere",
        ("argwhere",),
        _INDICES,
        "oneflow.argwhere(x, dtype=oneflow.int64)",
        "oneflow.argwhere",
        "dtype=oneflow.int32",
        symptoms=("dtype",),
        probes=dtype_promotion.probes,
    ),
    Convention(
        "dtype of unique's indices",
        ("_unique2",),
        _INDICES,
        "oneflow.unique(x, return_inverse=True, return_counts=True, dtype=oneflow.int64)",
        "oneflow.unique",
        "dtype=oneflow.int32",
        symptoms=("dtype",),
        probes=dtype_promotion.probes,
    ),
    Convention(
        "factor that leaves the size",
        (*_LINEAR, *(f"{name}.vec" for name in _LINEAR)),
        "a scale_factor that leaves the size of an axis as it is leaves the axis as it is in torch, whose kernel copies there "
        "(ATen/native/UpSample.h: 'scale_factor = 1, simply copy'); OneFlow interpolates by the factor",
        "oneflow.nn.functional.interpolate(x, size=...) with the size that the factor gives",
        "oneflow.nn.functional.interpolate",
        "the passed-in `scale_factor` will be used in the interpolation computation",
        probes=_by_the_factor,
    ),
    Convention(
        "sign of a remainder",
        ("remainder", "remainder_"),
        "% takes the sign of the divisor in torch and, like fmod, that of the dividend in OneFlow",
        "x - oneflow.floor(x / y) * y",
        "oneflow.fmod",
        "The remainder has the same sign as the dividend",
        probes=_sign_of_the_dividend,
    ),
)
