"""The wrong side adds the bias twice, or not at all."""

from __future__ import annotations

from typing import Iterator

import numpy as np

from minrepro.diagnose.predict import by_value
from minrepro.diagnose.scene import Scene
from minrepro.ir.reduction import Probe

CAUSE = "bias twice or missing"
SENTENCE = "the bias is added twice, or not at all"
WEIGHT = 8


def probes(scene: Scene) -> Iterator[Probe]:
    """The right result plus or minus the bias must be the wrong answer."""
    yield from by_value(scene, _values(scene))


def _values(scene: Scene) -> Iterator[tuple[str, np.ndarray]]:
    truth = scene.truth
    for node, _ in scene.arguments("bias"):
        bias = scene.tensor(node, "bias")
        if bias is None or truth is None or not bias.dtype.inexact or len(scene.case.graph.nodes) != 1:
            continue
        b = bias.values
        if "conv" in node.op or node.op in ("group_norm", "batch_norm", "instance_norm"):
            b = b.reshape((-1,) + (1,) * (truth.ndim - 2))
        try:
            b = np.broadcast_to(b, truth.shape)
        except ValueError:
            continue
        yield f"{node.op} with its bias twice", truth + b
        yield f"{node.op} without its bias", truth - b
