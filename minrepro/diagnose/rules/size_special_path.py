"""Axes of size 0 or 1 take a path of their own, and it is wrong."""

from __future__ import annotations

from typing import Iterator

import msgspec
import numpy as np

from minrepro.diagnose.scene import Scene
from minrepro.ir.case import Case
from minrepro.ir.graph import Graph
from minrepro.ir.outcome import Completed
from minrepro.ir.reduction import Probe
from minrepro.ir.tensor import Tensor
from minrepro.ops.gradient import forward, incoming

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
        what, verdicts = f"every axis of size {small}", _verdicts(scene, small)
        for axis in _shared(scene, small) if len(verdicts) < 2 else ():
            what, verdicts = f"axis {axis} of every tensor", _verdicts(scene, small, axis)
            if len(verdicts) >= 2:
                break
        if len(verdicts) < 2:
            continue
        # A size of 1 may still be wrong where 0 is: it is asked for itself in the next round.
        right = [size for size, verdict in verdicts.items() if verdict != "diverges"]
        good = len(right) >= 2 and (small == 0 or len(right) == len(verdicts))
        seen = ", ".join(f"size {size}: {verdict}" for size, verdict in verdicts.items())
        yield Probe(f"{what} made larger", "the divergence is gone", seen, good)
        return


def _verdicts(scene: Scene, small: int, axis: int | None = None) -> dict[int, str]:
    """Larger size -> what the sides say, as far as it means something."""
    verdicts = {}
    for size in LARGER[small]:
        grown = _fitted(scene, _grown(scene, small, size, axis))
        verdict = "same" if scene.gone(grown) else scene.retry(grown).verdict
        if verdict in ("same", "arithmetic", "diverges"):
            verdicts[size] = verdict
    return verdicts


def _shared(scene: Scene, small: int) -> Iterator[int]:
    """The axes that have that size in every tensor, where some have it in others as well."""
    shapes = [tensor.shape for tensor in scene.feeds.values()]
    for axis in range(min(map(len, shapes))):
        if all(shape[axis] == small for shape in shapes):
            yield axis


def _fitted(scene: Scene, case: Case) -> Case:
    """The case with incoming gradients that look like its results; itself if that says nothing."""
    node = scene.gradient
    if node is None:
        return case
    step = forward(node)
    alone = msgspec.structs.replace(case, graph=Graph(step.inputs, (step,), step.outputs), mode="forward")
    made, feeds = scene.run(alone, scene.right), dict(case.feeds)
    for name, ref in zip(step.outputs, incoming(node)) if isinstance(made, Completed) else ():
        if ref is not None and feeds[ref.name].shape != made.values[name].shape:
            feeds[ref.name] = Tensor(np.resize(_ones((1,), feeds[ref.name]), made.values[name].shape), feeds[ref.name].dtype)
    return msgspec.structs.replace(case, feeds=feeds)


def _ones(shape: tuple[int, ...], like: Tensor) -> np.ndarray:
    return np.full(shape, 0x3F80 if like.dtype.name == "bfloat16" else 1, like.dtype.storage)


def _grown(scene: Scene, small: int, size: int, only: int | None) -> Case:
    """Axes of one size in all feeds made larger, with values that repeat or, where there were none, count."""

    def grow(tensor: Tensor) -> Tensor:
        shape = tuple(
            size if extent == small and only in (None, axis) else extent for axis, extent in enumerate(tensor.shape)
        )
        count = int(np.prod(shape))
        if small == 0 or tensor.dtype.name in ("bool", "bfloat16"):
            return Tensor(_ones(shape, tensor), tensor.dtype)
        values = np.resize(tensor.view.reshape(-1), count).reshape(shape)
        if tensor.dtype.kind == "float":
            values = (values * (1 + np.arange(count).reshape(shape) % 5 / 8)).astype(tensor.dtype.storage)
        return Tensor(values, tensor.dtype)

    return scene.with_feeds(grow, lambda tensor: small in tensor.shape)
