"""Where several results read one element, its gradient is that of one of them and not their sum."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minrepro.diagnose.scene import Scene
from minrepro.ir.graph import refs
from minrepro.ir.reduction import Probe
from minrepro.ir.tensor import Tensor
from minrepro.ops.gradient import incoming

CAUSE = "accumulation lost"
SENTENCE = "what several results add to the gradient of one element is overwritten, not added up"
WEIGHT = 8

MOST = 128
"""Elements of the incoming gradient, each of which is sent back alone."""


def probes(scene: Scene) -> Iterator[Probe]:
    """Each element of the wrong gradient must be one of the right side's addends, and some must have several."""
    parts = _addends(scene)
    if parts is None or scene.actual is None:
        return
    several = (parts != 0).sum(0) > 1
    if not several.any():
        return
    # An element that nothing reads keeps its zero; of the others, the addend that comes nearest.
    gap = np.where((parts != 0) | ~(parts != 0).any(0), np.abs(parts - scene.actual.values), np.inf)
    nearest = np.take_along_axis(parts, gap.argmin(0)[None], 0)[0]
    seen = scene.explains(nearest)
    yield Probe(
        f"{scene.right.title}: each element of the incoming gradient sent back alone, "
        f"{int(several.sum())} elements get more than one addend",
        f"each element of what {scene.wrong.title} answers is one addend", "it is" if seen else "it is not", seen,
    )


def _addends(scene: Scene) -> np.ndarray | None:
    """What each element of the incoming gradient adds to the gradient that differs, along a first axis."""
    node, actual = scene.gradient, scene.actual
    if scene.symptom != "value" or node is None or actual is None:
        return None
    names = [ref.name for ref in refs(incoming(node))]
    sent = scene.case.feeds[names[0]] if len(names) == 1 else None
    if sent is None or sent.dtype.kind != "float" or not 1 < sent.size <= MOST:
        return None
    found = []
    dense = sent.contiguous()
    for position in range(dense.size):
        alone = np.zeros_like(dense.base)
        alone.flat[position] = dense.base.flat[position]
        value = scene.predicted(scene.with_feed(names[0], Tensor(alone, dense.dtype)))
        if value is None or value.shape != actual.shape:
            return None
        found.append(value.values)
    return np.stack(found)
