"""The wrong side returns what the memory held before."""

from __future__ import annotations

from typing import Iterator

import numpy as np

from minrepro.backends.program import filling
from minrepro.diagnose.scene import Scene
from minrepro.ir.reduction import Probe
from minrepro.ir.tensor import Tensor

CAUSE = "uninitialised memory"
SENTENCE = "some elements are never written: they hold what the memory held before"
WEIGHT = 10
FLAKY = True

BYTES = (0x5A, 0x3C)
"""Two fillings of fresh memory; the allocator writes their complement (`filling`)."""


def probes(scene: Scene) -> Iterator[Probe]:
    """With fresh memory filled by the allocator, the filling must show up in the wrong elements and nowhere else."""
    if scene.symptom not in ("value", "nonfinite") or scene.expected is None:
        return
    seen = []
    for byte in BYTES:
        value = scene.value(scene.run_after(filling(byte)))
        if value is None or value.shape != scene.expected.shape:
            return
        seen.append(value)
    moved = _bytes(seen[0]) != _bytes(seen[1])
    yield Probe(
        "fresh memory filled with two different bytes",
        "the wrong elements follow",
        f"{int(moved.any(-1).sum())} elements follow",
        bool(moved.any()),
    )
    if moved.any():
        filled = all(bool(np.all(_bytes(v)[moved] == (byte ^ 0xFF))) for v, byte in zip(seen, BYTES))
        yield Probe("what those elements hold", "the filling", "the filling" if filled else "something else", filled)


def _bytes(value: Tensor) -> np.ndarray:
    """The bytes of each element along a last axis."""
    dense = np.ascontiguousarray(value.view).reshape(-1)
    return dense.view(np.uint8).reshape(dense.size, -1)
