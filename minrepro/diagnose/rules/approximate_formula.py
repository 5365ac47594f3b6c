"""The wrong side takes an approximation where the exact formula is due, or the other way round."""

from __future__ import annotations

from typing import Iterator

import numpy as np

from minrepro.diagnose.predict import by_argument, by_value
from minrepro.diagnose.scene import Scene
from minrepro.ir.reduction import Probe

CAUSE = "approximate formula"
SENTENCE = "an approximation is computed instead of the formula that was asked for"
WEIGHT = 8


def probes(scene: Scene) -> Iterator[Probe]:
    """The other formula must give the wrong answer."""
    found = list(by_argument(scene, "approximate", lambda node, value: ["tanh" if value != "tanh" else "none"]))
    yield from found if found and found[0].confirmed else list(by_value(scene, _known(scene))) or found


def _known(scene: Scene) -> Iterator[tuple[str, np.ndarray]]:
    """Approximations that have no argument of their own."""
    for node in scene.case.graph.nodes if len(scene.case.graph.nodes) == 1 else ():
        tensor = scene.tensor(node, "self") or scene.tensor(node, "input")
        if tensor is None or tensor.dtype.kind != "float":
            continue
        with np.errstate(all="ignore"):
            x = tensor.values
            if node.op == "gelu":
                yield "x * sigmoid(1.702 * x)", x / (1.0 + np.exp(-1.702 * x))
            if node.op in ("sigmoid", "silu"):
                hard = np.clip(x / 6.0 + 0.5, 0.0, 1.0)
                yield "sigmoid as clip(x / 6 + 1 / 2, 0, 1)", hard if node.op == "sigmoid" else x * hard
            if node.op == "tanh":
                yield "tanh as clip(x, -1, 1)", np.clip(x, -1.0, 1.0)
            if node.op == "softplus":
                yield "softplus as max(x, 0)", np.maximum(x, 0.0)
            if node.op == "erf":
                t = 1.0 / (1.0 + 0.3275911 * np.abs(x))
                # Abramowitz and Stegun 7.1.26.
                poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
                yield "erf by a polynomial of degree 5", np.sign(x) * (1.0 - poly * np.exp(-x * x))
            if node.op == "exp":
                yield "exp as (1 + x / 256) ** 256", (1.0 + x / 256.0) ** 256
