"""The wrong side takes arguments that it should refuse."""

from __future__ import annotations

from typing import Iterator

import numpy as np

from minrepro.diagnose.scene import Scene
from minrepro.ir.outcome import Completed, Raised
from minrepro.ir.reduction import Probe

CAUSE = "missing check"
SENTENCE = "arguments that have no meaning are taken without a message"
WEIGHT = 4


def probes(scene: Scene) -> Iterator[Probe]:
    """The arguments, and not the values, must be what the right side refuses and the wrong side takes."""
    if scene.symptom != "accepted":
        return
    zeros = scene.with_feeds(lambda tensor: tensor.with_base(np.zeros_like(tensor.base)))
    left, right = scene.run(zeros, scene.pair.reference), scene.run(zeros, scene.pair.candidate)
    good = isinstance(left, Raised) and isinstance(right, Completed)
    yield Probe(
        "zeros in every input", "refused by the one and taken by the other", "the same" if good else "otherwise", good
    )
