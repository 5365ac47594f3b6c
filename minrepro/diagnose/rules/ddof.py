"""The wrong side divides the sum of squares by n where n - 1 is due, or the other way round."""

from __future__ import annotations

from typing import Iterator

import numpy as np

from minrepro.diagnose.formulas import norms
from minrepro.diagnose.predict import by_argument, by_value
from minrepro.diagnose.scene import Scene
from minrepro.ir.reduction import Probe

CAUSE = "ddof"
SENTENCE = "the variance is divided by another count (n against n - 1)"
WEIGHT = 8


def probes(scene: Scene) -> Iterator[Probe]:
    """Another correction must give the wrong answer."""
    yield from by_argument(
        scene, "correction", lambda node, c: [other for other in (0, 1, 2) if other != (1 if c is None else c)]
    )
    yield from by_argument(scene, "unbiased", lambda node, unbiased: [not unbiased])
    yield from by_value(
        scene,
        (
            (
                f"{norm.op} with the variance of {norm.count} values divided by {norm.count - 1}",
                norm.result(1.0 / np.sqrt(norm.variance * norm.count / (norm.count - 1) + norm.eps)),
            )
            for norm in norms(scene)
            if norm.count > 1
        ),
    )
