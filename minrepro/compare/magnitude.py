"""How large arrays and their differences are, for a verdict: each in one pass over the values where nothing is odd in them."""

from __future__ import annotations

import math

import numpy as np

from minrepro.ir.dtype import DType

ROOM = 1e30
"""Size up to which float32 can weigh a difference by itself: sums and products of such values with a unit stay finite."""
TRUSTED = 1e-30
"""Mean square from which float32 has lost nothing to underflow."""


def apart(growth: float, dtype: DType, x: np.ndarray, y: np.ndarray) -> float:
    """Tier 0 in float32 itself, at a third of the cost: the largest difference over what rounding may do.

    Args:
        growth: how the errors of the terms of one element add up.
        dtype: of both arrays.
        x, y: float32 arrays of one shape, not empty.

    Returns:
        The ratio; infinite where float32 cannot tell: at infinities and NaN, and close to overflow.
    """
    with np.errstate(all="ignore"):
        size = np.abs(x)
        gap = np.abs(x - y)
        scale = (size + np.float32(rms(x))) * np.float32(dtype.roundoff * growth) + np.float32(dtype.tiny)
        if not (float(size.max()) < ROOM and float(gap.max()) < ROOM):
            return math.inf
        return float((gap / scale).max())


def largest_gap(x: np.ndarray, y: np.ndarray) -> float:
    """The largest finite difference; infinite if there is none."""
    if x.dtype.kind in "biu":
        return float(max(abs(int(p) - int(q)) for p, q in zip(x.ravel(), y.ravel())))
    with np.errstate(all="ignore"):
        gap = np.abs(x - y)
        largest = float(gap.max())
    if math.isfinite(largest):
        return largest
    return float(gap[np.isfinite(gap)].max()) if np.isfinite(gap).any() else math.inf


def first(mask: np.ndarray) -> tuple[int, ...]:
    """Index of the first true element."""
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(mask)), mask.shape))


def worst(ratios: np.ndarray) -> float:
    """The largest ratio that is a number; 0 for an empty array."""
    return float(np.nanmax(ratios)) if ratios.size else 0.0


def rms(values: np.ndarray) -> float:
    """Root mean square of the finite values; 0 if there are none."""
    flat = values.reshape(-1)
    with np.errstate(all="ignore"):
        total = float(np.vdot(flat, flat).real)
    if math.isfinite(total) and total > TRUSTED * flat.size:
        return math.sqrt(total / flat.size)
    finite = np.abs(values[np.isfinite(values)]).astype(np.float64)
    return float(np.sqrt(np.mean(finite**2))) if finite.size else 0.0


def ulps(x: np.ndarray, y: np.ndarray, dtype: DType) -> float:
    """Largest distance in units of the last place; infinite where only one side is finite."""
    with np.errstate(all="ignore"):
        spacing = np.maximum(2.0 ** np.floor(np.log2(np.maximum(np.abs(x), dtype.tiny))) * 2 * dtype.roundoff, 5e-324)
        gap = np.where((x == y) | (np.isnan(x) & np.isnan(y)), 0.0, np.abs(x - y) / spacing)
    return float(np.max(np.where(np.isnan(gap), np.inf, gap), initial=0.0))
