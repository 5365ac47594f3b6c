"""The wrong side takes numbers below the smallest normal one for zero."""

from __future__ import annotations

from typing import Iterator

import numpy as np

from minrepro.diagnose.predict import by_case, by_value
from minrepro.diagnose.scene import Scene
from minrepro.ir.reduction import Probe
from minrepro.ir.tensor import Tensor

CAUSE = "subnormal flush"
SENTENCE = "numbers below the smallest normal one are flushed to zero"
WEIGHT = 8


def probes(scene: Scene) -> Iterator[Probe]:
    """Zeros for the subnormal inputs or outputs must give the wrong answer."""
    expected = scene.expected
    found: list[Probe] = []
    if expected is not None and expected.dtype.kind == "float" and _subnormal(expected).any():
        found += by_value(
            scene,
            [
                (
                    "the right result with subnormal numbers as zeros",
                    np.where(_subnormal(expected), 0.0, expected.values),
                )
            ],
        )
    if any(_subnormal(tensor).any() for tensor in scene.feeds.values()):

        def flush(tensor: Tensor) -> Tensor:
            flat = tensor.cast(tensor.dtype)
            mask = _subnormal(Tensor(flat.base, flat.dtype))
            return flat.with_base(np.where(mask, np.zeros_like(flat.base), flat.base))

        found += by_case(
            scene, [("subnormal inputs as zeros", scene.with_feeds(flush, lambda t: t.dtype.kind == "float"))]
        )
    good = [probe for probe in found if probe.confirmed]
    yield from good[:1] or found[:1]


def _subnormal(tensor: Tensor) -> np.ndarray:
    if tensor.dtype.kind != "float":
        return np.zeros(tensor.shape, bool)
    magnitude = np.abs(tensor.values)
    return (magnitude > 0) & (magnitude < tensor.dtype.tiny)
