"""The wrong side guards its division with another epsilon, or in another place."""

from __future__ import annotations

from typing import Iterator

import numpy as np

from minrepro.diagnose.formulas import norms
from minrepro.diagnose.predict import by_argument, by_value
from minrepro.diagnose.scene import Scene
from minrepro.ir.reduction import Probe

CAUSE = "epsilon"
SENTENCE = "another epsilon, or epsilon in another place of the formula"
WEIGHT = 8

TRIED = (0.0, 1e-12, 1e-10, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)


def probes(scene: Scene) -> Iterator[Probe]:
    """Another value of eps, or eps outside the root, must give the wrong answer."""
    found = list(by_argument(scene, "eps", lambda node, eps: [e for e in TRIED if e != eps]))
    if found and not found[0].confirmed:
        outside = [
            (
                f"{norm.op} with eps={norm.eps:g} added to the root and not under it",
                norm.result(1.0 / (np.sqrt(norm.variance) + norm.eps)),
            )
            for norm in norms(scene)
        ]
        found = list(by_value(scene, outside)) or found
    yield from found
