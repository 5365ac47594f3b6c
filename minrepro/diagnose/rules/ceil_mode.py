"""The wrong side keeps or drops the last, incomplete window of a pooling."""

from __future__ import annotations

from typing import Iterator

from minrepro.diagnose.predict import by_argument
from minrepro.diagnose.scene import Scene
from minrepro.ir.reduction import Probe

CAUSE = "ceil_mode"
SENTENCE = "the size of the pooled image is rounded the other way"
WEIGHT = 8


def probes(scene: Scene) -> Iterator[Probe]:
    """The other rounding must give the wrong answer."""
    yield from by_argument(scene, "ceil_mode", lambda node, flag: [not flag])
