"""A NaN in the inputs is lost, or taken for a number."""

from __future__ import annotations

from typing import Iterator

import numpy as np

from minrepro.diagnose.predict import cure
from minrepro.diagnose.scene import Scene
from minrepro.ir.reduction import Probe
from minrepro.ir.tensor import Tensor

CAUSE = "NaN propagation"
SENTENCE = "a NaN of the inputs is not handled as IEEE 754 says"
WEIGHT = 6


def probes(scene: Scene) -> Iterator[Probe]:
    """Numbers in the place of NaNs must cure it."""
    if not any(t.dtype.inexact and np.isnan(t.values).any() for t in scene.feeds.values()):
        constants = [v for node in scene.case.graph.nodes for v in node.args.values() if isinstance(v, float)]
        if not any(v != v for v in constants):
            return
        nodes = scene.case.graph.nodes
        node = next(n for n in nodes if any(isinstance(v, float) and v != v for v in n.args.values()))
        numbers = {key: 1.0 for key, v in node.args.items() if isinstance(v, float) and v != v}
        yield cure(scene, f"{', '.join(numbers)} one instead of NaN", scene.with_node(node, numbers))
        return

    def numbers_only(tensor: Tensor) -> Tensor:
        base = Tensor(tensor.base, tensor.dtype).values
        if tensor.dtype.name == "bfloat16":
            return tensor.with_base(np.where(np.isnan(base), np.uint16(0x3F80), tensor.base))
        return tensor.with_base(np.where(np.isnan(base), 1, tensor.base).astype(tensor.base.dtype))

    yield cure(scene, "ones in the place of every NaN", scene.with_feeds(numbers_only, lambda t: t.dtype.inexact))
