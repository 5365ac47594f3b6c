"""Keep a gradient step whole while it shrinks.

Passes change sizes, dtypes and arguments of a step without knowing that it is differentiated. Afterwards its incoming
gradients have to look like its results, it can only be differentiated by what it still reads, and it has one output per
leaf. The reference says what the results look like.
"""

from __future__ import annotations

import hashlib
from typing import Callable, Mapping

import msgspec
import numpy as np

from minrepro.ir import codec
from minrepro.ir.case import Case
from minrepro.ir.dtype import dtype
from minrepro.ir.graph import Graph, Node
from minrepro.ir.outcome import Completed, Outcome
from minrepro.ir.tensor import Tensor, TensorSpec
from minrepro.ops.gradient import forward, gradient, incoming, is_gradient, leaves
from minrepro.shrink.resize import resize


class Fitter:
    """Makes variants of a gradient case whole again.

    Args:
        run: evaluates a case on the reference.
    """

    def __init__(self, run: Callable[[Case], Outcome]):
        self._run = run
        self._known: dict[str, Mapping[str, TensorSpec]] = {}
        self._refused: set[str] = set()

    def fit(self, case: Case) -> Case:
        """The case with fitting incoming gradients; the case itself if it needs none, or has no forward result."""
        nodes = case.graph.nodes
        if len(nodes) != 1 or not is_gradient(nodes[0].op):
            return case
        step = nodes[0]
        of, sent, feeds = forward(step), incoming(step), dict(case.feeds)
        if is_gradient(of.op):
            # The order below has to be whole first; a leaf that it lost takes its incoming gradient along.
            before, lower = leaves(of), self.fit(_alone(case, of))
            if lower.lint() is not None:
                return lower
            (of,), feeds = lower.graph.nodes, {**feeds, **lower.feeds}
            sent = tuple(ref for name, ref in zip(before, sent) if name in leaves(of))
        by = tuple(name for name in leaves(step) if name in of.inputs and feeds[name].dtype.inexact)
        made = self._results(msgspec.structs.replace(case, feeds=feeds), of)
        if made is None:
            return case
        for name, ref in zip(of.outputs, sent):
            if ref is not None:
                feeds[ref.name] = like(feeds[ref.name], made[name])
        step = gradient(msgspec.structs.replace(of, outputs=step.outputs), sent, by)
        graph = Graph(tuple(name for name in case.graph.inputs if name in step.inputs), (step,), step.outputs)
        if graph == case.graph and all(feeds[name] is case.feeds[name] for name in graph.inputs):
            return case
        return msgspec.structs.replace(case, graph=graph, feeds={name: feeds[name] for name in graph.inputs})

    def _results(self, case: Case, of: Node) -> Mapping[str, TensorSpec] | None:
        """What the step's results look like; None if the reference does not run it."""
        alone = _alone(case, of)
        specs = [alone.feeds[name].spec for name in of.inputs]
        name = hashlib.sha256(codec.encode(alone.graph) + repr(specs).encode()).hexdigest()
        if name in self._known:
            return self._known[name]
        exact = hashlib.sha256(codec.encode(alone)).hexdigest()
        if exact in self._refused:
            return None
        outcome = self._run(alone)
        if not isinstance(outcome, Completed):
            # Other values of the same shapes may do: indices in range, for example.
            self._refused.add(exact)
            return None
        self._known[name] = {key: value.spec for key, value in outcome.values.items()}
        return self._known[name]


def _alone(case: Case, step: Node) -> Case:
    """A case of one step, with the feeds that it reads."""
    graph = Graph(step.inputs, (step,), step.outputs)
    return msgspec.structs.replace(case, graph=graph, feeds={name: case.feeds[name] for name in step.inputs})


def like(sent: Tensor, result: TensorSpec) -> Tensor:
    """An incoming gradient of the shape and dtype of a result: cropped where it can be, else its values repeated."""
    old, new = sent.shape, result.shape
    if old != new:
        if len(old) == len(new) and all(n <= o for n, o in zip(new, old)):
            sent = resize(sent, new)
        else:
            sent = Tensor(np.resize(sent.view, new), sent.dtype)
    return sent if sent.dtype.name == result.dtype else sent.cast(dtype(result.dtype))
