"""An infinity in the inputs is not carried to its limit."""

from __future__ import annotations

from typing import Iterator

import numpy as np

from minrepro.diagnose.predict import cure
from minrepro.diagnose.scene import Scene
from minrepro.ir.reduction import Probe
from minrepro.ir.tensor import Tensor

CAUSE = "infinity"
SENTENCE = "an infinity of the inputs is not carried to its limit"
WEIGHT = 6

LARGE = 16.0


def probes(scene: Scene) -> Iterator[Probe]:
    """Numbers in the place of infinities must cure it."""
    if not any(t.dtype.inexact and np.isinf(t.values).any() for t in scene.feeds.values()):
        return

    def finite(tensor: Tensor) -> Tensor:
        base = tensor.base
        return tensor.with_base(np.where(np.isinf(base), np.copysign(LARGE, base), base).astype(base.dtype))

    yield cure(
        scene,
        f"{LARGE:g} in the place of every infinity",
        scene.with_feeds(finite, lambda t: t.dtype.kind == "float" and t.dtype.name != "bfloat16"),
    )
