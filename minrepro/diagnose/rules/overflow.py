"""An inner step leaves the range of the dtype although the result does not."""

from __future__ import annotations

from typing import Iterator

import numpy as np

from minrepro.diagnose.predict import cure
from minrepro.diagnose.scene import Scene
from minrepro.ir.dtype import from_float64, to_float64
from minrepro.ir.reduction import Probe
from minrepro.ir.tensor import Tensor

CAUSE = "overflow"
SENTENCE = "an inner step leaves the range of the dtype although the result lies in it"
WEIGHT = 6

FAR = 64.0
"""Values below this are in no dtype's danger."""


def probes(scene: Scene) -> Iterator[Probe]:
    """The right result must be finite, the wrong one not, and inputs scaled down must cure it."""
    actual, truth = scene.actual, scene.truth
    if scene.symptom not in ("nonfinite", "value") or actual is None or truth is None or not actual.dtype.inexact:
        return
    if actual.shape != truth.shape or any(
        t.dtype.inexact and not np.isfinite(t.values).all() for t in scene.feeds.values()
    ):
        return
    lost = ~np.isfinite(actual.values) & np.isfinite(truth)
    if not lost.any():
        return
    yield Probe("float64 where the wrong answer is not finite", "finite", "finite", True)
    peak = max((float(np.abs(t.values).max()) for t in scene.feeds.values() if t.dtype.inexact and t.size), default=0.0)
    if peak <= FAR:
        yield Probe("the largest input", f"above {FAR:g}", f"{peak:g}", False)
        return

    def down(tensor: Tensor) -> Tensor:
        return tensor.with_base(from_float64(to_float64(tensor.base, tensor.dtype) / (peak / 4.0), tensor.dtype))

    yield cure(
        scene, f"the inputs divided by {peak / 4.0:.3g}", scene.with_feeds(down, lambda t: t.dtype.kind == "float")
    )
