"""Two backends and everything that is asked of them: run a case on both, and on float64 when the verdict needs it."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable, Mapping

import msgspec
import numpy as np

from minrepro import backends, ops, replays
from minrepro.backends import Spec
from minrepro.backends.program import Program, Step, filling, program
from minrepro.compare import sensitivity
from minrepro.compare.freedom import free, merged
from minrepro.compare.laws import Broken, worst
from minrepro.compare.policy import Format, rounded
from minrepro.compare.terms import reach, terms
from minrepro.compare.twin import twin
from minrepro.compare.verdict import Question, Truth, judge, loosest
from minrepro.compare.widening import numbered, product, side_by_side, wide_node, wide_spec, widened
from minrepro.environments import resolve
from minrepro.errors import Unsupported
from minrepro.ir import codec
from minrepro.ir.case import Case
from minrepro.ir.divergence import Comparison
from minrepro.ir.graph import Graph, Node, refs
from minrepro.ir.outcome import Completed, Crashed, Outcome, TimedOut, Unspelled, from_outside
from minrepro.ir.tensor import Tensor, TensorSpec
from minrepro.ops.gradient import differentiated
from minrepro.worker.client import Worker

TOGETHER = 1 << 16
"""Elements up to which the float64 runs behind a verdict share one evaluation, which holds all their feeds at once."""


RETRIES = 2
"""Times that an evaluation is repeated which something outside ended."""


class Side(msgspec.Struct):
    """One backend of the pair: its spec, its worker, and the replay it runs under."""

    spec: Spec
    worker: Worker
    replay: Path | None = None

    @property
    def title(self) -> str:
        """Framework name, with the replay if there is one."""
        return self.spec.backend.title + (f" + replay {self.spec.replay}" if self.spec.replay else "")

    def versions(self) -> Mapping[str, str]:
        """Package -> version in its interpreter; empty if the worker is not running."""
        return self.worker.hello()["environment"] if self.worker.ready else {}


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
        self.in_session, self._sessions_last = False, True
        self._beside = ThreadPoolExecutor(1)

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
        if case.fill:
            text = msgspec.structs.replace(text, steps=(Step("", filling(case.fill), ()), *text.steps))
        outputs = case.graph.outputs if returns is None else returns
        feeds = {name: case.feeds[name] for name in case.graph.inputs}
        knobs = {"deadline": self.deadline_s, "threads": case.threads, "seed": case.seed}
        return self.isolated(side, frozenset(node.op for node in case.graph.nodes), text, feeds, outputs, knobs)

    def isolated(self, side: Side, operators: frozenset[str], text: Program, feeds, outputs, knobs) -> Outcome:
        """Run a program in a forked child, or without a fork where that was found to be needed."""
        name = (side.spec.name, operators)
        if self.survives_fork(side, operators):
            outcome = side.worker.run(text, feeds, outputs, **knobs)
            for _ in range(RETRIES):
                if from_outside(outcome):
                    outcome = side.worker.run(text, feeds, outputs, **knobs)
            # What is killed every time needs more memory than there is: no other process would change that.
            trusted = not isinstance(outcome, (Crashed, TimedOut)) or from_outside(outcome)
            if trusted or name in self._survives_fork:
                return outcome
            again = side.worker.direct(text, feeds, outputs, **knobs)
            self._survives_fork[name] = isinstance(again, (Crashed, TimedOut))
            return again
        return side.worker.direct(text, feeds, outputs, **knobs)

    def survives_fork(self, side: Side, operators: frozenset[str]) -> bool:
        """False if these operators are known, or were found, to hang in a forked child and nowhere else."""
        known = not set(map(differentiated, operators)) & set(side.spec.backend.dead_after_fork)
        return self._survives_fork.get((side.spec.name, operators), known)

    def spell(self, case: Case, side: Side) -> Program:
        """A case as text of one side's framework."""
        return program(case.graph, self._needed(case, side), side.spec.backend, case.terse)

    def specs(self, case: Case) -> dict[str, TensorSpec]:
        """Specs of every value; those of inner values come from a run of the reference."""
        known = _fed(case)
        if len(case.graph.nodes) > 1:
            # A graph on feeds of the same shapes and layouts is asked for again and again.
            name = _spec_key(case.graph, known)
            if name not in self._known:
                self._known[name] = self._inner(case, known)
            known.update(self._known[name])
        return known

    def learn(self, case: Case, specs: Mapping[str, TensorSpec]) -> None:
        """Take the specs of a case's inner values from one who has them, so that the reference need not be run."""
        inner = [name for node in case.graph.nodes for name in node.outputs]
        wide = msgspec.structs.replace(case.graph, nodes=tuple(map(wide_node, case.graph.nodes)))
        for graph, change in ((case.graph, lambda spec: spec), (wide, wide_spec)):
            fed = {name: change(spec) for name, spec in _fed(case).items()}
            self._known[_spec_key(graph, fed)] = {name: change(specs[name]) for name in inner if name in specs}

    def _needed(self, case: Case, side: Side) -> dict[str, TensorSpec]:
        """The specs that the spelling asks for: of the feeds, and of all values if a function spells what reads one."""
        known = _fed(case)
        asked = {name for node in case.graph.nodes if _computed(node, side) for name in node.inputs}
        return self.specs(case) if asked - set(known) else known

    def _inner(self, case: Case, known: dict[str, TensorSpec]) -> dict[str, TensorSpec]:
        """Run the reference up to each step whose spelling needs the rank of what the step before made."""
        found: dict[str, TensorSpec] = {}
        values: dict[str, Tensor] = {name: case.feeds[name] for name in case.graph.inputs}
        pending: list[Node] = []

        def flush() -> None:
            made = tuple(name for node in pending for name in node.outputs)
            graph = case.graph.subgraph(tuple(pending), made)
            text = program(graph, {**known, **found}, self.reference.spec.backend, case.terse)
            feeds = {name: values[name] for name in graph.inputs}
            outcome = self.reference.worker.run(text, feeds, made, seed=case.seed)
            if not isinstance(outcome, Completed):
                ops = ", ".join(node.op for node in pending)
                raise Unsupported(f"{ops}: the reference cannot run this, so what follows it has no shape")
            values.update(outcome.values)
            found.update({name: value.spec for name, value in outcome.values.items()})
            pending.clear()

        for node in case.graph.nodes:
            if pending and _computed(node, self.reference) and not set(node.inputs) <= {*known, *found}:
                flush()
            pending.append(node)
        flush()
        return found

    def compare(self, case: Case) -> tuple[Comparison, Outcome, Outcome]:
        """Run both sides and judge."""
        left, right = self.both(case)
        if isinstance(left, Unspelled):
            return Comparison("unsupported", why=left.why), left, left
        return judge(self.question(case), left, right), left, right

    def both(self, case: Case) -> tuple[Outcome, Outcome]:
        """Run both sides, at the same time where neither has to wait for what the other makes.

        The spelling of a step may need the shape of what a step before it made, which the reference is asked for.
        """
        if len(case.graph.nodes) > 1 or self.reference.worker is self.candidate.worker:
            left = self.run(case, self.reference)
            return left, left if isinstance(left, Unspelled) else self.run(case, self.candidate)
        other = self._beside.submit(self.run, case, self.candidate)
        try:
            return self.run(case, self.reference), other.result()
        except BaseException:
            # Ctrl-C: the other half must not go on, and leave its answer behind for the next question.
            self.candidate.worker.stop()
            raise

    def question(self, case: Case) -> Question:
        """How a case is to be judged."""
        specs = {name: value.spec for name, value in case.feeds.items()}
        return self.lazy_question(case.graph, specs, lambda: case)

    def lazy_question(self, graph: Graph, specs: Mapping[str, TensorSpec], case: Callable[[], Case]) -> Question:
        """The same for a case that is only built if the verdict needs a float64 run."""
        rows = [ops.find(node.op) for node in graph.nodes]
        kinds = [row.kind for row in rows if row is not None]
        # Errors of several steps add up like independent terms.
        length = max((terms(node, specs) for node in graph.nodes), default=1) * max(1, len(graph.nodes))
        furthest = max((reach(node, specs) for node in graph.nodes), default=1)
        single = graph.nodes[0] if len(graph.nodes) == 1 else None

        def at(name: str, index: np.ndarray) -> np.ndarray | None:
            return _at(single, case().feeds, index) if single is not None else None

        def kept(values: Mapping[str, Tensor]) -> Broken | None:
            return worst(single, case().feeds, values) if single is not None else None

        # Where bits have to agree, nothing is weighed by a sensitivity.
        weighed = loosest(kinds) not in ("exact", "index")
        truth = _once(lambda: self.truth(case(), weighed))
        second = _once(lambda: self._second(case()))
        typed = self.candidate.spec.name != "numpy"
        wide = _once(lambda: self._wide(case()))
        return Question(
            loosest(kinds), length, graph.outputs, truth, second, at, wide, lambda to: self._rounded(case(), to),
            free(graph.nodes), lambda: single is not None and merged(single, case().feeds), kept, typed, furthest,
        )

    def truth(self, case: Case, weighed: bool = True) -> Truth | None:
        """The case in float64 on the reference framework, with the sensitivity of each output element if `weighed`."""
        parts = product(case) if weighed else None
        if not weighed:
            copies = [widened(case)]
        elif parts is not None:
            copies = [widened(case), widened(case, squares=parts)]
        else:
            random = np.random.RandomState(case.seed)
            copies = [widened(case), *(widened(case, random) for _ in range(sensitivity.SAMPLES))]
        base, *others = self._several(copies)
        if base is None:
            return None
        known = [o for o in others if o is not None and all(o[name].shape == base[name].shape for name in base)]
        found = {}
        for name, value in base.items():
            if parts is not None and known:
                found[name] = sensitivity.exact(known[0][name])
            else:
                found[name] = sensitivity.sampled(value, [other[name] for other in known])
        lost = sensitivity.inside(case.graph.nodes[0], case.feeds) if weighed and len(case.graph.nodes) == 1 else {}
        for name in lost.keys() & found.keys():
            found[name] = np.hypot(found[name], lost[name])
        return Truth(base, found, f"float64 {self.reference.spec.backend.title}")

    def _several(self, copies: list[Case]) -> list[dict[str, np.ndarray] | None]:
        """Run variants of one case on the reference: in one evaluation if they are small."""
        outputs = copies[0].graph.outputs
        if sum(copy.elements for copy in copies) <= TOGETHER * len(copies):
            outcome = self._run_together(copies)
            if isinstance(outcome, Completed):
                return [
                    {n: outcome.values[own].values for n in outputs if (own := numbered(n, i)) in outcome.values}
                    for i in range(len(copies))
                ]
        return [self._outputs(copy, self.reference) for copy in copies]

    def _wide(self, case: Case) -> dict[str, np.ndarray] | None:
        """The candidate's own float64 run; None if nothing in the case can be widened."""
        if not any(case.feeds[name].dtype.inexact for name in case.graph.inputs):
            return None
        return self._outputs(widened(case), self.candidate)

    def _rounded(self, case: Case, to: Format) -> list[dict[str, np.ndarray]]:
        """The reference in float64 on inputs rounded to a narrower format; without the addend of a product as well."""
        parts = product(case)
        addend = parts[2] if parts is not None else None
        choices = [case.graph.inputs]
        if addend is not None:
            choices.append(tuple(name for name in case.graph.inputs if name != addend))
        wide = widened(case)
        floats = {name for name in case.graph.inputs if wide.feeds[name].dtype.kind == "float"}
        copies = []
        for chosen in (floats.intersection(names) for names in choices):
            feeds = {
                name: tensor.with_base(rounded(tensor.base, to)) if name in chosen else tensor
                for name, tensor in wide.feeds.items()
            }
            copies.append(msgspec.structs.replace(wide, feeds=feeds))
        return [found for found in self._several(copies) if found is not None]

    def _run_together(self, copies: list[Case]) -> Outcome:
        """Run one program on several sets of feeds in one evaluation of the reference."""
        side, joint = self.reference, side_by_side(copies)
        try:
            specs = {
                numbered(name, i): spec
                for name, spec in self._needed(copies[0], side).items()
                for i in range(len(copies))
            }
            text = program(joint.graph, specs, side.spec.backend, joint.terse)
        except Unsupported as error:
            return Unspelled(str(error))
        knobs = {"deadline": self.deadline_s, "threads": joint.threads, "seed": joint.seed}
        if self.in_session:
            free = list(text.variables.values())
            outcome = side.worker.step(text, joint.feeds, joint.graph.outputs, free=free, **knobs)
            if not isinstance(outcome, (Crashed, TimedOut)):
                return outcome
            # Too risky for the process that holds the model, which starts again: from now on in children.
            self.in_session, self._sessions_last = False, False
        return side.worker.run(text, joint.feeds, joint.graph.outputs, **knobs)

    @contextlib.contextmanager
    def session(self) -> Iterator[None]:
        """While the reference's session is open, its float64 runs go there and not to a child each."""
        self.in_session = self._sessions_last
        try:
            yield
        finally:
            self.in_session = False

    def _second(self, case: Case) -> dict[str, np.ndarray] | None:
        """NumPy's outputs of the case with floating feeds widened to float64, integers exact; None if it cannot."""
        outcome = self.run(widened(case), self.numpy)
        if not isinstance(outcome, Completed):
            return None
        return {name: value.values if value.dtype.inexact else value.view for name, value in outcome.values.items()}

    def _outputs(self, case: Case, side: Side) -> dict[str, np.ndarray] | None:
        outcome = self.run(case, side)
        if not isinstance(outcome, Completed):
            return None
        return {name: value.values for name, value in outcome.values.items()}

    def widened(self, case: Case) -> Case:
        """The case in float64."""
        return widened(case)

    def twin(self, case: Case) -> Comparison | None:
        """Both sides in float64 (`compare.twin`); a divergence or None."""
        wide = widened(case)
        if all(wide.feeds[name] is case.feeds[name] for name in case.graph.inputs):
            return None
        left, right = self.both(wide)
        return twin(self.question(wide), left, right)


def _once(function: Callable[[], Any]) -> Callable[[], Any]:
    cell: list[Any] = []

    def cached() -> Any:
        if not cell:
            cell.append(function())
        return cell[0]

    return cached


def _fed(case: Case) -> dict[str, TensorSpec]:
    return {name: case.feeds[name].spec for name in case.graph.inputs}


def _spec_key(graph: Graph, fed: Mapping[str, TensorSpec]) -> bytes:
    return hashlib.sha256(codec.encode(graph) + repr(sorted(fed.items())).encode()).digest()


def _computed(node: Node, side: Side) -> bool:
    """True if a function spells this step, from the specs of what it reads."""
    row = ops.find(node.op)
    return row is None or not side.spec.backend.spells_op(row) or callable(side.spec.backend.spelling(row)[0])


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
