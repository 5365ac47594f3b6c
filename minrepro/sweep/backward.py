"""The gradient step of a sample: what is differentiated by what, with incoming gradients that a name pins.

What a step's results look like, and by which of its inputs it can be differentiated, only the reference knows: it is
asked once, and its answer (`Pinned`) is kept with the judgement, so that the case can be made again without it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import msgspec

from minrepro import ops
from minrepro.compare.freedom import free, undetermined, unordered
from minrepro.ir.case import Case
from minrepro.ir.dtype import dtype
from minrepro.ir.graph import Graph, Ref
from minrepro.ir.outcome import Completed, Outcome, Raised
from minrepro.localise.gradients import NO_LABEL, incoming_of, related
from minrepro.ops.gradient import gradient

MODE = "backward"


class Result(msgspec.Struct, frozen=True):
    """Shape and dtype of one result of a step, and whether it is differentiated."""

    shape: tuple[int, ...]
    dtype: str
    differentiated: bool = True


class Pinned(msgspec.Struct, frozen=True):
    """What the reference says about a step that is to be differentiated.

    Attributes:
        results: of the step, in order.
        leaves: the inputs by which it is differentiated.
    """

    results: tuple[Result, ...]
    leaves: tuple[str, ...]


class Ready(msgspec.Struct, frozen=True):
    """A gradient case and what the reference made of it."""

    case: Case
    pinned: Pinned
    outcome: Completed


class Nothing(msgspec.Struct, frozen=True):
    """There is no gradient to compare: which verdict that is, and why."""

    verdict: str
    why: str


def differentiable(case: Case) -> bool:
    """True if a gradient of this step may exist, and be unique: it is no draw, no loading, and reads such a tensor."""
    node = case.graph.nodes[0]
    row = ops.find(node.op)
    if row is None or row.kind == "random" or row.arrays:
        return False
    return bool(_floats(case)) and not set(node.outputs) <= free((node,)) - unordered(node)


def opened(case: Case) -> Case:
    """The gradient step before anything was run: by every floating input, the results taken for numbers."""
    return differentiated(case, Pinned((Result((), "float32"),) * len(case.graph.nodes[0].outputs), _floats(case)))


def differentiated(case: Case, pinned: Pinned) -> Case:
    """The gradient step of the single step of a case, with its incoming gradients."""
    node, feeds = case.graph.nodes[0], dict(case.feeds)
    incoming: list[Ref | None] = []
    for name, result in zip(node.outputs, pinned.results):
        pin = incoming_of(node, name, result.shape, dtype(result.dtype), case.seed) if result.differentiated else None
        if pin is not None:
            feeds[f"grad_{name}"] = pin
        incoming.append(Ref(f"grad_{name}") if pin is not None else None)
    step = gradient(node, tuple(incoming), pinned.leaves)
    graph = Graph(step.inputs, (step,), step.outputs)
    return msgspec.structs.replace(case, graph=graph, feeds={name: feeds[name] for name in step.inputs}, mode=MODE)


def ready(case: Case, run: Callable[[Case], Outcome]) -> Ready | Nothing:
    """Ask the reference for the results of a step, and for their gradients.

    Args:
        case: the step.
        run: evaluates a case on the reference.
    """
    made = run(case)
    if not isinstance(made, Completed):
        return Nothing("refused", f"the reference does not take it: {type(made).__name__}")
    node = case.graph.nodes[0]
    results = tuple(
        Result(of.shape, of.dtype.name, incoming_of(node, name, of.shape, of.dtype, case.seed) is not None)
        for name, of in ((name, made.values[name]) for name in node.outputs)
    )
    if not any(result.differentiated for result in results):
        return Nothing("none", "no result is floating-point and unique")
    first = _by(case, Pinned(results, _floats(case)), run)
    if isinstance(first, Ready):
        return first

    def works(positions: Collection[int], leaf: str) -> bool:
        return isinstance(_by(case, Pinned(_only(results, positions), (leaf,)), run), Ready)

    able = related([result.differentiated for result in results], _floats(case), works)
    return _by(case, Pinned(_only(results, able[0]), able[1]), run) if able is not None else first


def without(case: Case, pinned: Pinned, leaf: str, run: Callable[[Case], Outcome]) -> Ready | Nothing:
    """The same question by all inputs but one."""
    leaves = tuple(name for name in pinned.leaves if name != leaf)
    if not leaves:
        return Nothing("unsupported", NO_LABEL)
    return _by(case, Pinned(pinned.results, leaves), run)


def _only(results: tuple[Result, ...], positions: Collection[int]) -> tuple[Result, ...]:
    return tuple(
        msgspec.structs.replace(result, differentiated=position in positions) for position, result in enumerate(results)
    )


def _by(case: Case, pinned: Pinned, run: Callable[[Case], Outcome]) -> Ready | Nothing:
    step = differentiated(case, pinned)
    outcome = run(step)
    if isinstance(outcome, Completed):
        return Ready(step, pinned, outcome)
    said = outcome.message.splitlines()[0][:200] if isinstance(outcome, Raised) and outcome.message else str(outcome)
    return Nothing("none", f"the reference does not differentiate it: {said}")


def _floats(case: Case) -> tuple[str, ...]:
    """The inputs by which the step is differentiated."""
    unclear = undetermined(case.graph.nodes[0])
    return tuple(name for name in case.graph.inputs if case.feeds[name].dtype.inexact and name not in unclear)
