"""The candidate is off by one factor everywhere."""

from __future__ import annotations

from typing import Iterator

import numpy as np

from minrepro.diagnose.scene import Scene
from minrepro.ir.reduction import Probe

CAUSE = "constant factor"
SENTENCE = "every element is off by the same factor"
WEIGHT = 4
IMPLIED_BY = (
    "non-determinism", "ddof", "epsilon", "random draw not pinned", "argument ignored", "input ignored", "padding",
    "accumulation lost",
)


def probes(scene: Scene) -> Iterator[Probe]:
    """The quotients of at least four non-zero elements must agree to the precision of the dtype."""
    actual, expected = scene.actual, scene.expected
    if actual is None or expected is None or actual.shape != expected.shape or not actual.dtype.inexact:
        return
    x, y = expected.values, actual.values
    with np.errstate(all="ignore"):
        quotients = (y / x)[(x != 0) & np.isfinite(x) & np.isfinite(y)]
    if quotients.size < 4 or not quotients.any():
        return
    spread = float(np.max(np.abs(quotients - quotients.flat[0]))) / max(abs(quotients.flat[0]), 1e-300)
    seen = spread <= 64 * actual.dtype.roundoff and bool(abs(quotients.flat[0] - 1) > 64 * actual.dtype.roundoff)
    yield Probe(
        "divide the result by the right one, element by element",
        "one quotient",
        f"quotient {quotients.flat[0]:.6g}, spread {spread:.1e}",
        seen,
    )
