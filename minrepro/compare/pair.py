"""Two backends and everything that is asked of them: run a case on both, and on float64 when the verdict needs it."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, Callable, Mapping

import msgspec
import numpy as np

from minrepro import backends, ops, replays
from minrepro.backends import Spec
from minrepro.backends.program import Program, program
from minrepro.compare.verdict import Question, Truth, judge, loosest
from minrepro.environments import resolve
from minrepro.errors import Unsupported
from minrepro.ir import codec
from minrepro.ir.case import Case
from minrepro.ir.divergence import Comparison
from minrepro.ir.dtype import dtype
from minrepro.ir.graph import Graph, Node, refs, substitute
from minrepro.ir.outcome import Completed, Crashed, Outcome, TimedOut, Unspelled
from minrepro.ir.tensor import Tensor, TensorSpec
from minrepro.ops.row import Args, bind
from minrepro.worker.client import Worker

SAMPLES = 4
"""Float64 runs behind a sensitivity (design note on reduction, 5.3)."""
NUDGE = 2.0**-26
"""Relative size of the input noise in those runs (same source)."""
TOGETHER = 1 << 16
"""Elements up to which those runs share one evaluation, for which their feeds are all in memory at once."""


class Side(msgspec.Struct):
    """One backend of the pair: its spec, its worker, and the replay it runs under."""

    spec: Spec
    worker: Worker
    replay: Path | None = None

    @property
    def title(self) -> str:
        """Framework name, with the replay if there is one."""
        return self.spec.backend.title + (f" + replay {self.spec.replay}" if self.spec.replay else "")


def open_side(text: str, folder: Path) -> Side:
    """Resolve a backend spec to a worker that is starting.

    Raises:
        UsageError, BackendMissing: from parsing and from the environments.
    """
    spec = backends.parse(text)
    replay = replays.find(spec.replay).path if spec.replay else None
    environment = resolve(spec)
    plugins = [str(replay)] if replay else []
    worker = Worker(spec.backend, environment.interpreter, folder, plugins, spec.options)
    worker.start()
    return Side(spec, worker, replay)


class Pair:
    """Reference and candidate workers, plus a NumPy worker that starts when it is first needed.

    Args:
        reference, candidate: the two sides.
        folder: where logs go.
        deadline_s: time one evaluation may take.
    """

    def __init__(self, reference: Side, candidate: Side, folder: Path, deadline_s: float = 60.0):
        self.reference, self.candidate = reference, candidate
        self.folder, self.deadline_s = folder, deadline_s
        self._numpy: Side | None = None
        self._known: dict[bytes, dict[str, TensorSpec]] = {}
        self._survives_fork: dict[tuple[str, frozenset[str]], bool] = {}

    @property
    def numpy(self) -> Side:
        """The independent float64 reference."""
        if self._numpy is None:
            self._numpy = open_side("numpy", self.folder)
        return self._numpy

    def stop(self, reference: bool = True) -> None:
        """End all workers, the reference's only if no other pair goes on using it."""
        for side in (self.reference if reference else None, self.candidate, self._numpy):
            if side is not None:
                side.worker.stop()

    def run(self, case: Case, side: Side, returns: tuple[str, ...] | None = None) -> Outcome:
        """Run a case on one side in a child of its own.

        A crash or a hang of a forked child can be an artefact of the fork, so the first one of each set of operators is
        asked again in a process that does not fork; what that one says holds for the set from then on.
        """
        try:
            text = self.spell(case, side)
        except Unsupported as error:
            return Unspelled(str(error))
        outputs = case.graph.outputs if returns is None else returns
        feeds = {name: case.feeds[name] for name in case.graph.inputs}
        knobs = {"deadline": self.deadline_s, "threads": case.threads, "seed": case.seed}
        return self.isolated(side, frozenset(node.op for node in case.graph.nodes), text, feeds, outputs, knobs)

    def isolated(self, side: Side, operators: frozenset[str], text: Program, feeds, outputs, knobs) -> Outcome:
        """Run a program in a forked child, or without a fork where that was found to be needed."""
        name = (side.spec.name, operators)
        if self.survives_fork(side, operators):
            outcome = side.worker.run(text, feeds, outputs, **knobs)
            if not isinstance(outcome, (Crashed, TimedOut)) or name in self._survives_fork:
                return outcome
            again = side.worker.direct(text, feeds, outputs, **knobs)
            self._survives_fork[name] = isinstance(again, (Crashed, TimedOut))
            return again
        return side.worker.direct(text, feeds, outputs, **knobs)

    def survives_fork(self, side: Side, operators: frozenset[str]) -> bool:
        """False if these operators are known, or were found, to hang in a forked child and nowhere else."""
        known = not operators & set(side.spec.backend.dead_after_fork)
        return self._survives_fork.get((side.spec.name, operators), known)

    def spell(self, case: Case, side: Side) -> Program:
        """A case as text of one side's framework."""
        return program(case.graph, self.specs(case), side.spec.backend, case.terse)

    def specs(self, case: Case) -> dict[str, TensorSpec]:
        """Specs of every value; those of inner values come from a run of the reference."""
        known = {name: case.feeds[name].spec for name in case.graph.inputs}
        inner = {name for node in case.graph.nodes for name in node.inputs} - set(known)
        if inner:
            # A graph on feeds of the same shapes and layouts is asked for again and again.
            name = hashlib.sha256(codec.encode(case.graph) + repr(sorted(known.items())).encode()).digest()
            if name not in self._known:
                self._known[name] = self._inner(case, known)
            known.update(self._known[name])
        return known

    def _inner(self, case: Case, known: dict[str, TensorSpec]) -> dict[str, TensorSpec]:
        """Run the reference step by step, because a spelling may need the rank of what the step before made."""
        worker, backend = self.reference.worker, self.reference.spec.backend
        found: dict[str, TensorSpec] = {}
        values: dict[str, Tensor] = {name: case.feeds[name] for name in case.graph.inputs}
        for node in case.graph.nodes:
            graph = case.graph.subgraph((node,), node.outputs)
            text = program(graph, {**known, **found}, backend, case.terse)
            outcome = worker.run(text, {name: values[name] for name in graph.inputs}, graph.outputs)
            if not isinstance(outcome, Completed):
                raise Unsupported(f"{node.op}: the reference cannot run this step, so what follows it has no shape")
            values.update(outcome.values)
            found.update({name: value.spec for name, value in outcome.values.items()})
        return found

    def compare(self, case: Case) -> tuple[Comparison, Outcome, Outcome]:
        """Run both sides and judge."""
        left = self.run(case, self.reference)
        if isinstance(left, Unspelled):
            return Comparison("unsupported", why=left.why), left, left
        right = self.run(case, self.candidate)
        return judge(self.question(case), left, right), left, right

    def question(self, case: Case) -> Question:
        """How a case is to be judged."""
        specs = {name: value.spec for name, value in case.feeds.items()}
        return self.lazy_question(case.graph, specs, lambda: case)

    def lazy_question(self, graph: Graph, specs: Mapping[str, TensorSpec], case: Callable[[], Case]) -> Question:
        """The same for a case that is only built if the verdict needs a float64 run."""
        rows = [ops.find(node.op) for node in graph.nodes]
        kinds = [row.kind for row in rows if row is not None]
        # Errors of several steps add up like independent terms.
        length = max((_length(node, specs) for node in graph.nodes), default=1) * max(1, len(graph.nodes))
        single = graph.nodes[0] if len(graph.nodes) == 1 else None

        def at(name: str, index: np.ndarray) -> np.ndarray | None:
            return _at(single, case().feeds, index) if single is not None else None

        truth = _once(lambda: self.truth(case()))
        second = _once(lambda: self._second(case()))
        typed = self.candidate.spec.name != "numpy"
        return Question(loosest(kinds), length, graph.outputs, truth, second, at, typed)

    def truth(self, case: Case) -> Truth | None:
        """The case in float64 on the reference framework, with the sensitivity of each output element.

        Sensitivity is sampled from runs with slightly different inputs and pulled towards the mean of the tensor,
        since the smallest of many sampled values is far too small (section 5.3).
        """
        base, *others = self._sampled(case)
        if base is None:
            return None
        squares = {name: np.zeros(np.shape(value)) for name, value in base.items()}
        runs = 0
        for moved in others:
            if moved is None or any(moved[name].shape != base[name].shape for name in base):
                continue
            runs += 1
            for name, value in base.items():
                with np.errstate(all="ignore"):
                    step = np.abs(moved[name] - value) / NUDGE
                squares[name] += np.where(np.isfinite(step), step, 0.0) ** 2
        sensitivity = {}
        for name, total in squares.items():
            mean = float(np.mean(total)) / max(runs, 1) if total.size else 0.0
            sensitivity[name] = np.sqrt((total + 4.0 * mean) / (max(runs, 1) + 4.0))
        return Truth(base, sensitivity, f"float64 {self.reference.spec.backend.title}")

    def _sampled(self, case: Case) -> list[dict[str, np.ndarray] | None]:
        """The case in float64, then on slightly different inputs: in one run of the reference if it is small."""
        random = np.random.RandomState(case.seed)
        copies = [_widened(case), *(_widened(case, random) for _ in range(SAMPLES))]
        if case.elements <= TOGETHER:
            outcome = self._run_together(copies)
            if isinstance(outcome, Completed):
                return [
                    {name: outcome.values[_numbered(name, i)].values for name in case.graph.outputs}
                    for i in range(len(copies))
                ]
        return [self._outputs(copy, self.reference) for copy in copies]

    def _run_together(self, copies: list[Case]) -> Outcome:
        """Run one program on several sets of feeds in one evaluation of the reference."""
        side, joint = self.reference, _side_by_side(copies)
        try:
            specs = {
                _numbered(name, i): spec for i in range(len(copies)) for name, spec in self.specs(copies[0]).items()
            }
            text = program(joint.graph, specs, side.spec.backend, joint.terse)
        except Unsupported as error:
            return Unspelled(str(error))
        knobs = {"deadline": self.deadline_s, "threads": joint.threads, "seed": joint.seed}
        return side.worker.run(text, joint.feeds, joint.graph.outputs, **knobs)

    def _second(self, case: Case) -> dict[str, np.ndarray] | None:
        """NumPy's outputs of the case with floating-point feeds widened to float64, integers exact; None if it cannot."""
        outcome = self.run(_widened(case), self.numpy)
        if not isinstance(outcome, Completed):
            return None
        return {name: value.values if value.dtype.inexact else value.view for name, value in outcome.values.items()}

    def _outputs(self, case: Case, side: Side) -> dict[str, np.ndarray] | None:
        outcome = self.run(case, side)
        if not isinstance(outcome, Completed):
            return None
        return {name: value.values for name, value in outcome.values.items()}

    def twin(self, case: Case) -> Comparison | None:
        """Both sides in float64: a wrong formula stays as large as it was, while rounding shrinks by 2**29.

        Returns:
            A divergence if the float64 results differ by more than float32 rounding; else None.
        """
        feeds = {name: _widen(case.feeds[name], None) for name in case.graph.inputs}
        if all(feeds[name] is case.feeds[name] for name in feeds):
            return None
        wide = msgspec.structs.replace(case, feeds=feeds)
        left, right = self.run(wide, self.reference), self.run(wide, self.candidate)
        if not isinstance(left, Completed) or not isinstance(right, Completed):
            return None
        for name in case.graph.outputs:
            a, b = left.values[name], right.values[name]
            if a.shape != b.shape or a.dtype != b.dtype or a.dtype.kind != "float" or not a.size:
                continue
            x, y = a.values, b.values
            if not (np.isfinite(x).all() and np.isfinite(y).all()):
                continue
            # Two units of float32: anything that a float32 constant inside a float64 kernel can explain passes.
            scale = 2.0**-24 * (np.abs(x) + np.sqrt(np.mean(x**2)))
            if float(np.max(np.abs(x - y) - 2.0 * scale)) > 0.0:
                comparison = judge(self.question(wide), left, right)
                if comparison.verdict == "diverges":
                    return comparison
        return None


def _length(node: Node, specs: Mapping[str, TensorSpec]) -> int:
    """Terms added up for one output element, as the operator's row says; the last axis where it does not say."""
    row = ops.find(node.op)
    if row is None or row.kind not in ("reduction", "iterative"):
        return 1
    known = [specs[name] for name in node.inputs if name in specs]
    if row.length is not None and len(known) == len(node.inputs):
        return max(1, int(row.length(Args(bind(row, node.args, specs)))))
    return max((spec.shape[-1] for spec in known if spec.shape), default=1)


def _once(function: Callable[[], Any]) -> Callable[[], Any]:
    cell: list[Any] = []

    def cached() -> Any:
        if not cell:
            cell.append(function())
        return cell[0]

    return cached


def _widened(case: Case, noise: np.random.RandomState | None = None) -> Case:
    feeds = {name: _widen(case.feeds[name], noise) for name in case.graph.inputs}
    graph = msgspec.structs.replace(case.graph, nodes=tuple(map(_wide_node, case.graph.nodes)))
    return msgspec.structs.replace(case, graph=graph, feeds=feeds)


def _numbered(name: str, number: int) -> str:
    return f"{name}_copy_{number}"


def _side_by_side(cases: list[Case]) -> Case:
    """One program that runs copies of a program on feeds of their own: one evaluation instead of many."""
    inputs, nodes, outputs, feeds = [], [], [], {}
    for number, case in enumerate(cases):
        made = {name for node in case.graph.nodes for name in node.outputs}
        own = {name: _numbered(name, number) for name in (*case.graph.inputs, *made)}
        inputs += [own[name] for name in case.graph.inputs]
        outputs += [own[name] for name in case.graph.outputs]
        feeds.update({own[name]: case.feeds[name] for name in case.graph.inputs})
        for node in case.graph.nodes:
            args = {key: substitute(arg, own) for key, arg in node.args.items()}
            nodes.append(msgspec.structs.replace(node, args=args, outputs=tuple(own[name] for name in node.outputs)))
    graph = Graph(tuple(inputs), tuple(nodes), tuple(outputs))
    return msgspec.structs.replace(cases[0], graph=graph, feeds=feeds)


def _widen(tensor: Tensor, noise: np.random.RandomState | None) -> Tensor:
    if tensor.dtype.kind == "complex":
        wide = tensor.cast(dtype("complex128"))
    elif tensor.dtype.kind == "float":
        wide = tensor.cast(dtype("float64"))
    else:
        return tensor
    if noise is None:
        return wide
    return wide.with_base(wide.base * (1.0 + NUDGE * noise.standard_normal(wide.base.shape)))


def _wide_node(node: Node) -> Node:
    """Ask for float64 where a step asks for a narrower floating type."""

    def widen(arg: Any) -> Any:
        if isinstance(arg, type(dtype("float32"))) and arg.kind == "float":
            return dtype("float64")
        return tuple(map(widen, arg)) if isinstance(arg, tuple) else arg

    return msgspec.structs.replace(node, args={name: widen(arg) for name, arg in node.args.items()})


def _at(node: Node, feeds: Mapping[str, Tensor], index: np.ndarray) -> np.ndarray | None:
    """What stands at the indices that an index operator returned, in its first input."""
    first = next(refs(tuple(node.args.values())), None)
    if first is None or index.dtype.kind not in "iu":
        return None
    values = feeds[first.name].values
    dim = node.args.get("dim")
    if dim is None and "argmax" not in node.op and "argmin" not in node.op:
        dim = -1
    try:
        if dim is None:
            return values.reshape(-1)[index]
        if index.ndim == values.ndim - 1:
            index = np.expand_dims(index, int(dim))
        return np.take_along_axis(values, index.astype(np.int64), int(dim))
    except (IndexError, ValueError):
        return None

