"""A difference of nearly equal numbers, or another step that magnifies rounding, is done in a careless order."""

from __future__ import annotations

from typing import Iterator

import numpy as np

from minrepro.diagnose.predict import cure
from minrepro.diagnose.scene import Scene
from minrepro.ir.dtype import from_float64, to_float64
from minrepro.ir.reduction import Probe
from minrepro.ir.tensor import Tensor

CAUSE = "ill-conditioned step"
SENTENCE = "nearly equal large numbers are subtracted, which magnifies their rounding"
WEIGHT = 5

LARGE = 30.0
"""Size of the common offset, in standard deviations, from which cancellation is worth a question."""


def probes(scene: Scene) -> Iterator[Probe]:
    """The inputs must share a large offset, and without it both sides must agree."""
    if scene.symptom not in ("value", "nonfinite") or scene.expected is None or not scene.expected.dtype.inexact:
        return
    factors = {name: _offset(tensor) for name, tensor in scene.feeds.items() if tensor.dtype.kind == "float"}
    name = max(factors, key=lambda name: factors[name], default=None)
    if name is None or factors[name] < LARGE:
        return
    yield Probe(
        f"the offset of {name} over its spread",
        f"above {LARGE:g}: rounding grows by that factor",
        f"{factors[name]:.3g}",
        True,
    )

    def centred(tensor: Tensor) -> Tensor:
        base = to_float64(tensor.base, tensor.dtype)
        return tensor.with_base(from_float64(base - base.mean(), tensor.dtype))

    yield cure(scene, f"{name} without its offset", scene.with_feed(name, centred(scene.feeds[name])))


def _offset(tensor: Tensor) -> float:
    values = tensor.values
    if values.size < 2 or not np.isfinite(values).all():
        return 0.0
    spread = float(values.std())
    return abs(float(values.mean())) / spread if spread > 0 else 0.0
