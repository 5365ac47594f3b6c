"""Operands of this many axes are refused, or end the process; with two axes as one, or vectors as matrices, they are not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from minrepro.diagnose.scene import Scene
from minrepro.ir.case import Case
from minrepro.ir.reduction import Probe
from minrepro.ir.tensor import Tensor

CAUSE = "rank"
SENTENCE = "operands with this many axes are not handled; the same numbers with another number of axes are"
WEIGHT = 5
IMPLIED_BY = ("negative axis", "special path of size 0 or 1", "source strides ignored", "missing kernel")


def probes(scene: Scene) -> Iterator[Probe]:
    """Two axes as one, or vectors as matrices, must be taken; as many axes in other sizes must not."""
    if scene.symptom not in ("exception", "crash", "hang"):
        return
    tried = []
    for what, fewer, as_many in (*_leading(scene), *_trailing(scene), *_vectors(scene)):
        tried.append(what)
        if scene.cured(fewer):
            yield Probe(what, "both sides agree", "both sides agree", True)
            verdict = scene.retry(as_many)
            same = verdict.divergence is not None and verdict.divergence.symptom == scene.symptom
            yield Probe("as many axes in other sizes", f"the same {scene.symptom}", f"verdict {verdict.verdict}", same)
            return
    if tried:
        yield Probe(" or ".join(tried), "both sides agree", "they do not", False)


def _leading(scene: Scene) -> Iterator[tuple[str, Case, Case]]:
    """The first two axes of the tensors that have most."""
    rank = max((len(tensor.shape) for tensor in scene.feeds.values()), default=0)
    first = next((tensor.shape[:2] for tensor in scene.feeds.values() if len(tensor.shape) == rank), ())
    if rank < 3:
        return

    def of(tensor: Tensor) -> bool:
        return len(tensor.shape) == rank and tensor.shape[:2] == first

    both = first[0] * first[1]
    fewer = scene.with_feeds(lambda t: _shaped(t, (both, *t.shape[2:])), of)
    as_many = scene.with_feeds(lambda t: _shaped(t, (both, 1, *t.shape[2:])), of)
    yield "the first two axes as one", fewer, as_many


def _trailing(scene: Scene) -> Iterator[tuple[str, Case, Case]]:
    """The last two axes of every tensor that has them, and of arguments that name their sizes."""
    last = next((t.shape[-2:] for t in reversed(scene.feeds.values()) if len(t.shape) > 1), ())
    if not last:
        return
    both = last[0] * last[1]

    def of(tensor: Tensor) -> bool:
        return len(tensor.shape) > 1 and tensor.shape[-2:] == last

    def to(case: Case, sizes: tuple[int, ...]) -> Case:
        def changed(arg: Any) -> Any:
            return (*arg[:-2], *sizes) if isinstance(arg, tuple) and arg[-2:] == last else arg

        nodes = tuple(
            msgspec.structs.replace(node, args={name: changed(arg) for name, arg in node.args.items()})
            for node in case.graph.nodes
        )
        return msgspec.structs.replace(case, graph=msgspec.structs.replace(case.graph, nodes=nodes))

    fewer = to(scene.with_feeds(lambda t: _shaped(t, (*t.shape[:-2], both)), of), (both,))
    as_many = to(scene.with_feeds(lambda t: _shaped(t, (*t.shape[:-2], both, 1)), of), (both, 1))
    yield "the last two axes as one", fewer, as_many


def _vectors(scene: Scene) -> Iterator[tuple[str, Case, Case]]:
    """The first of two vectors as a row, the second as a column."""
    names = [name for name, tensor in scene.feeds.items() if len(tensor.shape) == 1]
    sizes = {scene.feeds[name].shape for name in names}
    if len(names) != 2 or len(sizes) != 1 or len(scene.feeds) != 2:
        return
    size = sizes.pop()[0]
    shapes = dict(zip(names, ((1, size), (size, 1))))
    feeds = {name: _shaped(tensor, shapes[name]) for name, tensor in scene.feeds.items()}
    longer = scene.with_feeds(lambda t: Tensor(np.resize(t.view, (size + 1,)), t.dtype))
    yield "the vectors as a row and a column", msgspec.structs.replace(scene.case, feeds=feeds), longer


def _shaped(tensor: Tensor, shape: tuple[int, ...]) -> Tensor:
    return Tensor(np.ascontiguousarray(tensor.view).reshape(shape), tensor.dtype)
