"""The wrong side takes no notice of the values of an input."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from minrepro.diagnose.rules.gradient_cut import nearer
from minrepro.diagnose.scene import Scene
from minrepro.ir.reduction import Probe
from minrepro.ir.tensor import Tensor

CAUSE = "input ignored"
SENTENCE = "the values of an input have no effect on the result"
WEIGHT = 7
IMPLIED_BY = ("argument ignored", "bias twice or missing", "in-place aliasing", "random draw not pinned", "gradient cut")


def probes(scene: Scene) -> Iterator[Probe]:
    """With other values in that input the right side must answer something else, and the wrong side the same."""
    actual, expected = scene.actual, scene.expected
    if scene.symptom != "value" or actual is None or expected is None:
        return
    names = [name for name, tensor in scene.feeds.items() if tensor.dtype.kind == "float" and tensor.size]
    for name in names:
        other = scene.with_feed(name, nearer(scene.feeds[name]))
        again, due = (scene.value(scene.run(other, side)) for side in (scene.wrong, scene.right))
        if again is not None and due is not None and _equal(again, actual) and not _equal(due, expected):
            yield Probe(f"other values in {name}", "the same answer, where another is due", "the same answer", True)
            return
    if names:
        yield Probe(f"other values in {' or '.join(names)}", "the same answer, where another is due", "another", False)


def _equal(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and np.array_equal(one.values, other.values, equal_nan=True)
