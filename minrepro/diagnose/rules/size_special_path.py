"""Axes of size 0 or 1 take a path of their own, and it is wrong."""

from __future__ import annotations

from typing import Iterator

import numpy as np

from minrepro.diagnose.scene import Scene
from minrepro.ir.case import Case
from minrepro.ir.reduction import Probe
from minrepro.ir.tensor import Tensor

CAUSE = "special path of size 0 or 1"
SENTENCE = "an axis of size 0 or 1 takes a path of its own, which is wrong"
WEIGHT = 5
IMPLIED_BY = ("argument ignored", "ceil_mode", "padding")

LARGER = {0: (1, 2, 3), 1: (2, 3, 4)}


def probes(scene: Scene) -> Iterator[Probe]:
    """All axes of that size made larger, at least two sizes must be taken by the reference and be right."""
    if any(t.layout.links for t in scene.feeds.values()):
        return
    for small in (0, 1):
        if not any(small in tensor.shape for tensor in scene.feeds.values()):
            continue
        verdicts = {}
        for size in LARGER[small]:
            grown = _grown(scene, small, size)
            verdict = "same" if scene.gone(grown) else scene.retry(grown).verdict
            if verdict in ("same", "arithmetic", "diverges"):
                verdicts[size] = verdict
        if len(verdicts) < 2:
            continue
        # A size of 1 may still be wrong where 0 is: it is asked for itself in the next round.
        right = [size for size, verdict in verdicts.items() if verdict != "diverges"]
        good = len(right) >= 2 and (small == 0 or len(right) == len(verdicts))
        seen = ", ".join(f"size {size}: {verdict}" for size, verdict in verdicts.items())
        yield Probe(f"every axis of size {small} made larger", "the divergence is gone", seen, good)
        return


def _grown(scene: Scene, small: int, size: int) -> Case:
    """Axes of one size in all feeds made larger, with values that repeat or, where there were none, count."""

    def grow(tensor: Tensor) -> Tensor:
        shape = tuple(size if extent == small else extent for extent in tensor.shape)
        count = int(np.prod(shape))
        if small == 0 or tensor.dtype.name in ("bool", "bfloat16"):
            fill = (
                np.ones(shape, tensor.dtype.storage)
                if tensor.dtype.name != "bfloat16"
                else np.full(shape, 0x3F80, np.uint16)
            )
            return Tensor(fill, tensor.dtype)
        values = np.resize(tensor.view.reshape(-1), count).reshape(shape)
        if tensor.dtype.kind == "float":
            values = (values * (1 + np.arange(count).reshape(shape) % 5 / 8)).astype(tensor.dtype.storage)
        return Tensor(values, tensor.dtype)

    return scene.with_feeds(grow, lambda tensor: small in tensor.shape)
