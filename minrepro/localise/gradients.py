"""The backward pass, step by step: the gradients of each step on the reference's inputs and a pinned incoming gradient.

A gradient that is wrong in one step spreads to everything before it, so every step is differentiated alone. It is
differentiated by all of its floating inputs, and then by those that need a gradient in training, where these are fewer:
frameworks take other paths when an input is frozen.
"""

from __future__ import annotations

import math
import zlib
from typing import Collection, Mapping

import msgspec
import numpy as np

from minrepro import ops
from minrepro.compare.freedom import free, undetermined, unordered
from minrepro.compare.pair import Pair
from minrepro.ir.case import Case
from minrepro.ir.divergence import Comparison
from minrepro.ir.dtype import DType, from_float64
from minrepro.ir.graph import Graph, Node, Ref
from minrepro.ir.outcome import Completed, Outcome, Raised
from minrepro.ir.tensor import Tensor
from minrepro.localise.streaming import Progress, Stream, Trace
from minrepro.ops.gradient import forward, gradient


class Gradients(Stream):
    """A pass over a captured graph that differentiates each step; see the module's text.

    Args:
        pair, case, progress: as for `Stream`; the case's mode is ``backward``.
        trained: graph inputs that need a gradient in training.
    """

    mode = "backward"

    def __init__(
        self, pair: Pair, case: Case, trained: Collection[str], progress: Progress = lambda done, total, what: None
    ):
        super().__init__(pair, case, progress)
        self._trained = set(trained)

    def _check(self, node: Node, graph: Graph, feeds, reference: Outcome, trace: Trace) -> Comparison:
        """Differentiate a step on both sides; a step without a gradient is the same on both."""
        if not isinstance(reference, Completed):
            return Comparison("same", why="nothing to differentiate: the reference has no result")
        row = ops.find(node.op)
        if row is None or row.kind == "random" or row.arrays:
            return Comparison("same", why="no gradient is defined")
        specs = {name: reference.values[name] for name in node.outputs}
        incoming = {
            f"grad_{name}": pin
            for name, made in specs.items()
            if (pin := incoming_of(node, name, made.shape, made.dtype, self.template.seed)) is not None
        }
        pinned = {**self.materialise(feeds), **incoming}
        grads = tuple(Ref(f"grad_{name}") if f"grad_{name}" in incoming else None for name in node.outputs)
        unclear = undetermined(node)
        leaves = tuple(name for name in node.inputs if pinned[name].dtype.inexact and name not in unclear)
        if not incoming or not leaves:
            return Comparison("same", why="nothing to differentiate: no unique floating-point input or output")
        comparison, known = self._by(node, grads, leaves, pinned, trace)
        trained = tuple(name for name in known if name in self._trained)
        if trained:
            self._trained.update(node.outputs)
            if trained != known:
                other, _ = self._by(node, grads, trained, pinned, trace)
                comparison = max(comparison, other, key=_weight)
        return comparison

    def _by(self, node, grads, leaves, pinned: Mapping[str, Tensor], trace) -> tuple[Comparison, tuple[str, ...]]:
        """Differentiate by some inputs; also gives those by which the reference can differentiate."""
        made = self._case(node, grads, leaves, pinned)
        left = self.pair.run(made, self.pair.reference)
        if isinstance(left, Raised) and len(leaves) > 1:
            alone = {name: self._case(node, grads, (name,), pinned) for name in leaves}
            leaves = tuple(
                name for name, case in alone.items() if isinstance(self.pair.run(case, self.pair.reference), Completed)
            )
            made = self._case(node, grads, leaves, pinned)
            left = self.pair.run(made, self.pair.reference) if leaves else left
        if not isinstance(left, Completed):
            return Comparison("same", why=f"not differentiable on the reference: {getattr(left, 'message', left)}"), ()
        step = made.graph.nodes[0]
        specs = {name: made.feeds[name].spec for name in made.graph.inputs}
        comparison, right, judged = self._candidate(made.graph, specs, made.feeds, left, trace)
        if isinstance(right, Raised) and not self._runs(made):
            why = "the step itself differs, so that its gradient says nothing: see the mode forward"
            return Comparison("unresolved", why=why), leaves
        if comparison.verdict == "diverges":
            self._remember(step, made.feeds, judged, comparison, left, right)
        return comparison, leaves

    def _runs(self, made: Case) -> bool:
        """True if the candidate's result of the step looks like the reference's."""
        of = forward(made.graph.nodes[0])
        feeds = {name: made.feeds[name] for name in of.inputs}
        alone = msgspec.structs.replace(made, graph=Graph(of.inputs, (of,), of.outputs), feeds=feeds)
        outcomes = self.pair.run(alone, self.pair.reference), self.pair.run(alone, self.pair.candidate)
        looks = [{n: v.shape for n, v in o.values.items()} if isinstance(o, Completed) else None for o in outcomes]
        return looks[0] == looks[1]

    def _case(self, node: Node, grads: tuple[Ref | None, ...], leaves: tuple[str, ...], pinned) -> Case:
        step = gradient(node, grads, leaves)
        graph = Graph(step.inputs, (step,), step.outputs)
        return msgspec.structs.replace(self.template, graph=graph, feeds={name: pinned[name] for name in step.inputs})


def incoming_of(node: Node, output: str, shape: tuple[int, ...], dtype: DType, seed: int) -> Tensor | None:
    """The incoming gradient of a step's result; None for one that has none, or that is not unique."""
    if not dtype.inexact:
        return None
    if output in unordered(node):
        return Tensor(from_float64(np.full(shape, 0.125), dtype), dtype)
    return None if output in free((node,)) else incoming_gradient(shape, dtype, f"{seed} {output}")


def incoming_gradient(shape: tuple[int, ...], dtype: DType, seed: str) -> Tensor:
    """Eighths between -1 and 1 but 0: exact in every floating-point type, and none of them hides a term."""
    random = np.random.RandomState(zlib.crc32(seed.encode()))
    values = random.randint(1, 9, math.prod(shape)) * random.choice([-0.125, 0.125], math.prod(shape))
    return Tensor(from_float64(values, dtype).reshape(shape), dtype)


def _weight(comparison: Comparison) -> tuple[bool, bool, float]:
    return comparison.verdict == "diverges", comparison.verdict != "same", comparison.ratio
