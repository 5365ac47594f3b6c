"""The wrong side maps pixels of a resized image as if align_corners were the other way."""

from __future__ import annotations

from typing import Iterator

from minrepro.diagnose.predict import by_argument
from minrepro.diagnose.scene import Scene
from minrepro.ir.reduction import Probe

CAUSE = "align_corners"
SENTENCE = "pixels are mapped as if align_corners were the other way"
WEIGHT = 8


def probes(scene: Scene) -> Iterator[Probe]:
    """The other value must give the wrong answer."""
    yield from by_argument(scene, "align_corners", lambda node, flag: [not flag])
