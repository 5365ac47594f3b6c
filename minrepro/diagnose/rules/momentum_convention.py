"""The wrong side reads momentum as the weight of the old statistics and not of the new ones, or the other way round."""

from __future__ import annotations

from typing import Iterator

from minrepro.diagnose.predict import by_argument
from minrepro.diagnose.scene import Scene
from minrepro.ir.reduction import Probe

CAUSE = "momentum convention"
SENTENCE = (
    "momentum is taken as the weight of the old running statistics instead of the new ones, or the other way round"
)
WEIGHT = 9


def probes(scene: Scene) -> Iterator[Probe]:
    """One minus the momentum must give the wrong answer."""
    yield from by_argument(scene, "momentum", lambda node, m: [1.0 - m] if isinstance(m, float) and m != 0.5 else [])
