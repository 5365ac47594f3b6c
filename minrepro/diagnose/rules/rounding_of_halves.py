"""The wrong side rounds halves up or away from zero where the nearest even number is due, or cuts decimals off."""

from __future__ import annotations

from typing import Iterator

import numpy as np

from minrepro.diagnose.predict import by_value
from minrepro.diagnose.scene import Scene
from minrepro.ir.reduction import Probe

CAUSE = "rounding of halves"
SENTENCE = "halves, or decimals, are rounded by another rule"
WEIGHT = 8


def probes(scene: Scene) -> Iterator[Probe]:
    """Another rule must give the wrong answer."""
    if len(scene.case.graph.nodes) == 1:
        yield from by_value(scene, _values(scene))


def _values(scene: Scene) -> Iterator[tuple[str, np.ndarray]]:
    node = scene.case.graph.nodes[0]
    x = scene.tensor(node, "self")
    actual = scene.actual
    if x is None or actual is None or not x.dtype.inexact or x.dtype.kind != "float":
        return
    casts = node.op in ("_to_copy", "to", "type_as") and not actual.dtype.inexact
    if node.op not in ("round", "round_", "special_round") and not casts:
        return
    factor = 10.0 ** float(node.args.get("decimals", 0) or 0)
    with np.errstate(all="ignore"):
        v = x.values * factor
        rules = {
            "halves away from zero": np.trunc(v + np.copysign(0.5, v)),
            "halves up": np.floor(v + 0.5),
            "halves to even": np.rint(v),
            "towards zero": np.trunc(v),
            "down": np.floor(v),
            "up": np.ceil(v),
        }
    for rule, value in rules.items():
        yield f"rounded {rule}", value / factor if actual.dtype.inexact else value.astype(actual.dtype.storage)
