"""The backward pass, step by step: the gradients of each step on the reference's inputs and a pinned incoming gradient.

A gradient that is wrong in one step spreads to everything before it, so every step is differentiated alone. It is
differentiated by all of its floating inputs, and then by those that need a gradient in training, where these are fewer:
frameworks take other paths when an input is frozen.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence

import msgspec
import numpy as np

from minrepro import ops
from minrepro.compare.freedom import free, undetermined, unordered
from minrepro.compare.pair import Pair
from minrepro.ir.case import Case
from minrepro.ir.divergence import Comparison, Divergence
from minrepro.ir.dtype import DType, from_float64
from minrepro.ir.graph import Graph, Node, Ref
from minrepro.ir.outcome import Completed, Outcome, Raised
from minrepro.ir.tensor import Tensor
from minrepro.localise.streaming import Progress, Stream, Trace
from minrepro.ops.gradient import forward, gradient, innermost, is_gradient

NO_SECOND = re.compile(r"doesn't have any grad op|gradient function for op \w+ is not found", re.IGNORECASE)
"""Texts by which a framework says that it has no gradient of what the first order consists of."""
NO_LABEL = "the candidate has no gradient by the target of a loss"


class _Asked(msgspec.Struct, frozen=True):
    """A gradient to ask for: of which step, what is sent back, by which values, and all that it reads."""

    of: Node
    grads: tuple[Ref | None, ...]
    leaves: tuple[str, ...]
    pinned: Mapping[str, Tensor]


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
        asked = self._asked(node, feeds, reference)
        if isinstance(asked, Comparison):
            return asked
        comparison, known = self._by(asked, trace)
        trained = tuple(name for name in known if name in self._trained)
        if trained:
            self._trained.update(node.outputs)
            if trained != known:
                other, _ = self._by(msgspec.structs.replace(asked, leaves=trained), trace)
                comparison = max(comparison, other, key=_weight)
        return comparison

    def _asked(self, node: Node, feeds, reference: Outcome) -> _Asked | Comparison:
        """By what a step is differentiated, and what is sent back; a judgement where there is nothing to ask."""
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
        return _Asked(node, grads, leaves, pinned)

    def _by(self, asked: _Asked, trace: Trace) -> tuple[Comparison, tuple[str, ...]]:
        """Differentiate by some inputs; also gives those by which the reference can differentiate."""
        asked, made, left = self._answered(asked)
        if not isinstance(left, Completed):
            return Comparison("same", why=f"not differentiable on the reference: {getattr(left, 'message', left)}"), ()
        step = made.graph.nodes[0]
        specs = {name: made.feeds[name].spec for name in made.graph.inputs}
        comparison, right, judged = self._candidate(made.graph, specs, made.feeds, left, trace)
        if isinstance(right, Raised) and is_gradient(asked.of.op) and NO_SECOND.search(right.message):
            title = self.pair.candidate.spec.backend.title
            return Comparison("unsupported", why=f"{title} has no gradient of the gradient of {innermost(step.op)!r}"), ()
        if isinstance(right, Raised) and not self._runs(made):
            why = "the step itself differs, so that its gradient says nothing: see the mode forward"
            return Comparison("unresolved", why=why), asked.leaves
        data = label(made, comparison.divergence)
        if data is not None and data not in self._trained:
            rest = tuple(name for name in asked.leaves if name != data)
            if not rest:
                return Comparison("unsupported", why=NO_LABEL), ()
            return self._by(msgspec.structs.replace(asked, leaves=rest), trace)
        if comparison.verdict == "diverges":
            self._remember(step, made.feeds, judged, comparison, left, right)
        return comparison, asked.leaves

    def _answered(self, asked: _Asked) -> tuple[_Asked, Case, Outcome]:
        """What the reference can be asked of that, as a case, and what it answers."""
        made = self._case(asked)
        left = self.pair.run(made, self.pair.reference)
        several = len(asked.leaves) > 1 or sum(grad is not None for grad in asked.grads) > 1
        if not isinstance(left, Raised) or not several:
            return asked, made, left

        def works(positions: Collection[int], leaf: str) -> bool:
            one = msgspec.structs.replace(asked, grads=only(asked.grads, positions), leaves=(leaf,))
            return isinstance(self.pair.run(self._case(one), self.pair.reference), Completed)

        able = related([grad is not None for grad in asked.grads], asked.leaves, works)
        if able is None:
            return asked, made, left
        asked = msgspec.structs.replace(asked, grads=only(asked.grads, able[0]), leaves=able[1])
        made = self._case(asked)
        return asked, made, self.pair.run(made, self.pair.reference)

    def _runs(self, made: Case) -> bool:
        """True if the candidate's result of the step looks like the reference's."""
        of = forward(made.graph.nodes[0])
        feeds = {name: made.feeds[name] for name in of.inputs}
        alone = msgspec.structs.replace(made, graph=Graph(of.inputs, (of,), of.outputs), feeds=feeds)
        outcomes = self.pair.run(alone, self.pair.reference), self.pair.run(alone, self.pair.candidate)
        looks = [{n: v.shape for n, v in o.values.items()} if isinstance(o, Completed) else None for o in outcomes]
        return looks[0] == looks[1]

    def _case(self, asked: _Asked) -> Case:
        step = gradient(asked.of, asked.grads, asked.leaves)
        graph = Graph(step.inputs, (step,), step.outputs)
        feeds = {name: asked.pinned[name] for name in step.inputs}
        return msgspec.structs.replace(self.template, graph=graph, feeds=feeds)


class SecondOrder(Gradients):
    """The gradients of the gradients of each step, as a gradient penalty or a differential equation needs them.

    The first order is differentiated by what it is a gradient by, and by its incoming gradient: whatever depends on the
    step's result comes back through that.
    """

    mode = "second"

    def __init__(
        self, pair: Pair, case: Case, trained: Collection[str], progress: Progress = lambda done, total, what: None
    ):
        # The incoming gradient is no parameter, and yet all that depends on the result comes back through it.
        super().__init__(pair, case, (), progress)

    def _asked(self, node: Node, feeds, reference: Outcome) -> _Asked | Comparison:
        asked = super()._asked(node, feeds, reference)
        if isinstance(asked, Comparison):
            return asked
        asked, made, left = self._answered(asked)
        if not isinstance(left, Completed):
            return Comparison("same", why="nothing to differentiate: the reference has no gradient")
        step = made.graph.nodes[0]
        pins = {
            f"grad_{name}": incoming_gradient(value.shape, value.dtype, f"{self.template.seed} {name}")
            for name, value in left.values.items()
        }
        grads = tuple(Ref(f"grad_{name}") if f"grad_{name}" in pins else None for name in step.outputs)
        sent = tuple(ref.name for ref in asked.grads if ref is not None)
        return _Asked(step, grads, (*asked.leaves, *sent), {**asked.pinned, **pins})


def label(case: Case, found: Divergence | None) -> str | None:
    """The input that stands for the target of a loss, if the divergence is that the candidate has no gradient by it.

    A target is data nearly always, so that some frameworks have no gradient by it; what they do not have is not wrong.
    """
    if found is None or found.symptom != "structure" or found.candidate != "no gradient":
        return None
    arg = case.graph.nodes[0].args.get("target")
    return arg.name if isinstance(arg, Ref) and found.output == f"d_{arg.name}" else None


def related(
    floating: Sequence[bool], leaves: Sequence[str], works: Callable[[Collection[int], str], bool]
) -> tuple[frozenset[int], tuple[str, ...]] | None:
    """The results of a step that have a gradient, and the inputs that have one of them; None if there are none.

    Args:
        floating: of each result, if it could have one.
        leaves: the inputs.
        works: tells if some results can be differentiated by an input.
    """
    able = {
        (position, leaf) for position, could in enumerate(floating) if could for leaf in leaves if works({position}, leaf)
    }
    if not able:
        return None
    positions = frozenset(position for position, _ in able)
    return positions, tuple(leaf for leaf in leaves if any(leaf == other for _, other in able))


def only(grads: Sequence[Ref | None], positions: Collection[int]) -> tuple[Ref | None, ...]:
    """The incoming gradients of some results, None for the others."""
    return tuple(grad if position in positions else None for position, grad in enumerate(grads))


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
