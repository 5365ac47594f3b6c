"""The wrong side keeps a constant, of the call or of its formula, in float32 although its tensors are wider."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from minrepro.diagnose.predict import by_case, by_value
from minrepro.diagnose.scene import Scene
from minrepro.ir.case import Case
from minrepro.ir.reduction import Probe

CAUSE = "narrow argument"
SENTENCE = "a constant is kept in float32 although the tensors are wider"
WEIGHT = 9


def probes(scene: Scene) -> Iterator[Probe]:
    """The constant rounded to float32 must give the wrong answer."""
    if scene.actual is not None and scene.actual.dtype.bits >= 64:
        found = list(by_case(scene, _cases(scene)))
        yield from found if found and found[0].confirmed else list(by_value(scene, _formulas(scene))) or found


def _formulas(scene: Scene) -> Iterator[tuple[str, np.ndarray]]:
    """Formulas with constants of their own, these in float32."""
    node, *others = scene.case.graph.nodes
    tensor = scene.tensor(node, "self")
    if others or tensor is None or node.op != "gelu" or node.args.get("approximate") != "tanh":
        return
    x, exact = tensor.values, (math.sqrt(2.0 / math.pi), 0.044715)
    narrow = tuple(float(np.float32(value)) for value in exact)
    for which, (root, cubic) in {
        "both constants": narrow, "sqrt(2 / pi)": (narrow[0], exact[1]), "0.044715": (exact[0], narrow[1]),
    }.items():
        yield f"tanh's formula with {which} in float32", 0.5 * x * (1.0 + np.tanh(root * (x + cubic * x**3)))


def _cases(scene: Scene) -> Iterator[tuple[str, Case]]:
    names = dict.fromkeys(name for node in scene.case.graph.nodes for name in node.args)
    for name in ("negative_slope", "alpha", "beta", "eps", "value", "lower", "upper", *names):
        for node, value in scene.arguments(name):
            if isinstance(value, float) and np.isfinite(value) and float(np.float32(value)) != value:
                near = float(np.float32(value))
                yield f"{node.op} with {name}={near!r} instead of {value!r}", scene.with_node(node, {name: near})
