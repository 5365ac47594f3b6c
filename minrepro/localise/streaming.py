"""The teacher-forced pass: every step of the candidate runs on the reference's inputs.

One pass gives a verdict for every step, where an end-to-end comparison gives one bit for all of them. The reference
session holds weights and live activations; what a step reads and makes goes to the candidate through shared memory
and is dropped there at once, so memory follows the live activations and not their sum.
"""

from __future__ import annotations

import ast
import math
from typing import Callable, Collection, Mapping

import msgspec
import numpy as np

from minrepro import ops
from minrepro.backends import Backend
from minrepro.backends.program import Program, Step, identifier, program
from minrepro.compare.pair import Pair
from minrepro.compare.verdict import Question, judge
from minrepro.errors import SessionLost, Unsupported
from minrepro.ir.case import Case
from minrepro.ir.divergence import Comparison, Site
from minrepro.ir.dtype import dtype
from minrepro.ir.graph import Graph, Node, Ref, refs, substitute
from minrepro.ir.outcome import Completed, Crashed, Outcome, TimedOut, from_outside
from minrepro.ir.tensor import Tensor, TensorSpec
from minrepro.localise.lookahead import looking_ahead
from minrepro.ops.row import literal
from minrepro.worker.client import Value, Worker, Zeros

LOAD = "copy_.numpy"
"""Operator of one state entry in load mode: a destination of zeros and the checkpoint's array."""
TURNED = "load_transposed"
"""The same into a transposed view of the destination: a weight that is tied to another one the other way round."""
LAYERS = {("layer_norm", "weight"): ("load_layer_norm", "weight", ("normalized_shape",))}
"""(operator, parameter) -> (operator, source, arguments taken over): entries that are loaded through their layer, because
a framework's layer may keep the parameter in another form than the function takes it."""

EARNED = 1.5
"""How much more than an excused difference the screen lets pass on the same operator and shapes. The two kernels stay
the same and only the values change, while what `compare.verdict` calls wrong is off by 8 times its bound at least."""
INTO = {"self": Ref("dst"), "src": Ref("src")}


class Checked(msgspec.Struct, frozen=True):
    """The verdict on one step."""

    node: str
    op: str
    path: str
    source: str
    comparison: Comparison


class Trace(msgspec.Struct):
    """What a pass found.

    Attributes:
        mode: ``forward``, ``backward`` or ``load``.
        checked: a verdict per step, in order.
        sites: one guilty step per distinct suspected bug, the cheapest of its kind.
        tensors: number of tensors compared.
        specs: spec of every value met.
    """

    mode: str
    checked: list[Checked] = []
    sites: list[Site] = []
    tensors: int = 0
    specs: dict[str, TensorSpec] = {}

    @property
    def worst(self) -> Checked | None:
        """The step with the largest finite ratio."""
        known = [c for c in self.checked if c.comparison.verdict in ("same", "arithmetic", "diverges")]
        return max(known, key=lambda c: c.comparison.ratio, default=None)

    def of(self, verdict: str) -> list[Checked]:
        """The steps with one verdict."""
        return [c for c in self.checked if c.comparison.verdict == verdict]


Progress = Callable[[int, int, str], None]


class Made(msgspec.Struct, frozen=True):
    """A step as the reference ran it: alone as a graph, what went in, and what came out."""

    graph: Graph
    feeds: Mapping[str, Value]
    outcome: Outcome


class Stream:
    """One pass over a captured graph; see the module's text.

    Args:
        pair: both sides; the reference's session is open and holds every graph input.
        case: template of the cases made (mode, threads, seed, backends).
        progress: called with (done, total, what) after each step.
    """

    mode = "forward"

    def __init__(self, pair: Pair, case: Case, progress: Progress = lambda done, total, what: None):
        self.pair, self.template, self.progress = pair, case, progress
        self.specs: dict[str, TensorSpec] = {}
        self._best: dict[tuple, Site] = {}
        self._twinned: set[str] = set()
        self._lost: dict[str, str] = {}
        self._earned: dict[str, tuple[float, float]] = {}

    def forward(self, graph: Graph, specs: Mapping[str, TensorSpec]) -> Trace:
        """Check every step of a graph."""
        trace = Trace(self.mode, [], [], 0, self.specs)
        self.specs.update(specs)
        left, needed = graph.consumers(), {node.name for node in graph.needed().nodes}
        self.pair.candidate.worker.open()
        with looking_ahead(self.pair.reference.worker, graph.nodes, self._made) as steps:
            for done, (node, made) in enumerate(steps, 1):
                # Graph inputs stay: the model owns their memory anyway, and a later search may need them.
                last_use = {name for name in node.inputs if left[name] == 1 and name not in graph.inputs}
                with self.pair.session():
                    comparison = self._node(node, made, trace, last_use)
                # What stands beside the flow is checked where it can be: its parts, or torch's refusal, say the rest.
                if node.name in needed or comparison.verdict != "unsupported":
                    trace.checked.append(Checked(node.name, node.op, node.path, node.source, comparison))
                for name in node.inputs:
                    left[name] -= 1
                self.progress(done, len(graph.nodes), node.path or node.op)
        self.pair.candidate.worker.close()
        trace.sites = list(self._best.values())
        return trace

    def load(self, keys: Mapping[str, str], graph: Graph, turned: Collection[str] = ()) -> Trace:
        """Check every state entry: load it into a fresh tensor or layer of the candidate and compare bit by bit.

        Args:
            keys: variable in the reference's session -> state key.
            graph: tells which operator reads an entry.
            turned: variables that share their memory, transposed, with an entry before them.
        """
        trace = Trace("load", [], [], 0, self.specs)
        layers = _layers(graph)
        self.pair.candidate.worker.open()
        with looking_ahead(self.pair.reference.worker, tuple(keys), self._held) as entries:
            for done, (name, held) in enumerate(entries, 1):
                ways = [layers.get(name) or Node(LOAD, INTO, ("out",))]
                ways += [Node(TURNED, INTO, ("out",))] if name in turned else []
                for way in ways:
                    node = msgspec.structs.replace(way, path=keys[name])
                    trace.checked.append(Checked(name, node.op, keys[name], "", self._entry(held, node, trace)))
                self.progress(done, len(keys), keys[name])
        self.pair.candidate.worker.close()
        trace.sites = list(self._best.values())
        return trace

    # -- one step ---------------------------------------------------------------------------------------------

    def _made(self, node: Node, slot: str) -> Made | Comparison:
        """Run one step on the reference; a comparison where that leaves nothing to compare."""
        lost = next((name for name in node.inputs if name in self._lost), None)
        if lost is not None:
            self._lost.update(dict.fromkeys(node.outputs, self._lost[lost]))
            return Comparison("unsupported", why=self._lost[lost])
        graph = Graph(node.inputs, (node,), node.outputs)
        reference, values = self._reference(node, graph, slot)
        if isinstance(values, str):
            return Comparison("unsupported", why=values)
        if not isinstance(reference, Completed):
            self._lost.update(dict.fromkeys(node.outputs, f"{node.op}: the reference has no result"))
        if any(name not in values for name in graph.inputs):
            return Comparison("unresolved", why=f"{node.op}: the reference's process did not survive it: {reference}")
        self.specs.update({name: values[name].spec for name in node.outputs if name in values})
        return Made(graph, {name: values[name] for name in graph.inputs}, reference)

    def _node(self, node: Node, made: Made | Comparison, trace: Trace, last_use: set[str]) -> Comparison:
        """Run one step on the candidate, with the inputs that it had on the reference."""
        if isinstance(made, Comparison):
            return made
        comparison = self._check(node, made.graph, made.feeds, made.outcome, trace)
        if last_use:
            variables = [identifier(name, self.pair.reference.spec.backend) for name in last_use]
            self.pair.reference.worker.step(Program((), (), {}), {}, (), free=variables)
        return comparison

    def _check(
        self, node: Node, graph: Graph, feeds: Mapping[str, Value], reference: Outcome, trace: Trace
    ) -> Comparison:
        """Run a step on the candidate with the reference's inputs."""
        specs = {name: value.spec for name, value in feeds.items()}
        comparison, right, case = self._candidate(graph, specs, feeds, reference, trace)
        if comparison.verdict == "diverges":
            self._remember(node, feeds, case, comparison, reference, right)
        return comparison

    def _reference(self, node: Node, graph: Graph, slot: str) -> tuple[Outcome | None, dict[str, Value] | str]:
        """Execute a step in the reference's session; returns its outcome and the values of inputs and outputs."""
        worker, backend = self.pair.reference.worker, self.pair.reference.spec.backend
        row = ops.find(node.op)
        held = Program((), (), {name: identifier(name, backend) for name in graph.inputs})
        bound: dict[str, Value] = {}
        if row is not None and row.mutates:
            # The step writes to its input: let it work on a copy with the same layout, under another name.
            taken = worker.step(held, {}, graph.inputs, slot=slot)
            if not isinstance(taken, Completed):
                raise SessionLost(f"the reference's process was lost before {node.op}: {taken}")
            fresh = {name: f"{name}_before" for name in graph.inputs}
            bound = {fresh[name]: value for name, value in taken.values.items()}
            args = {key: substitute(arg, fresh) for key, arg in node.args.items()}
            graph = Graph(tuple(bound), (msgspec.structs.replace(node, args=args),), node.outputs)
        specs = {name: bound[name].spec if bound else self.specs[name] for name in graph.inputs}
        try:
            text = _aliased(program(graph, specs, backend), node, backend)
        except Unsupported as error:
            return None, self._unspelled(node, str(error), slot)
        wanted = node.outputs if bound else (*graph.inputs, *node.outputs)
        result = worker.step(text, bound, wanted, remote=True, slot=slot, deadline=self.pair.deadline_s * 4)
        if from_outside(result):
            where = f"{node.op} in {node.path or 'the root module'!r} {node.source}"
            raise SessionLost(f"the reference's process was lost at {where}: {result}\n{worker.tail()}")
        if bound:
            values: dict[str, Value] = dict(taken.values)
        elif isinstance(result, dict):
            values = {}
        else:
            # It failed; its inputs are still there for the candidate.
            taken = worker.step(held, {}, graph.inputs, slot=slot)
            values = dict(taken.values) if isinstance(taken, Completed) else {}
        if not isinstance(result, dict):
            return result, values
        values.update(result)
        return _completed(worker, {name: result[name] for name in node.outputs}), values

    def _unspelled(self, node: Node, why: str, slot: str) -> str:
        """Let torch run a step that has no spelling, so that the steps that read its results can be checked."""
        side = self.pair.reference
        if side.spec.name == "torch" and not node.op.endswith("_"):
            text = aten_call(node, side.spec.backend)
            result = side.worker.step(text, {}, node.outputs, remote=True, slot=slot, deadline=self.pair.deadline_s * 4)
            if isinstance(result, dict):
                self.specs.update({name: value.spec for name, value in result.items()})
                return why
        self._lost.update(dict.fromkeys(node.outputs, why))
        return why

    def _candidate(
        self, graph, specs, feeds, reference, trace, settled: bool = False
    ) -> tuple[Comparison, Outcome | None, Callable[[], Case]]:
        """Run the same step on the candidate and judge; a crash is confirmed in a child of its own.

        With `settled` the reference is known to be right, and nobody else is asked. The third part of the answer is the
        case that was judged: the shared memory behind `feeds` is gone once a float64 run was asked for.
        """
        lazily = _Lazy(self, graph, feeds)
        worker, backend = self.pair.candidate.worker, self.pair.candidate.spec.backend
        try:
            text = program(graph, {**self.specs, **specs}, backend)
        except Unsupported as error:
            return Comparison("unsupported", why=str(error)), None, lazily.case
        knobs = {"deadline": self.pair.deadline_s, "threads": self.template.threads, "seed": self.template.seed}
        free = list(text.variables.values())
        operators = frozenset(node.op for node in graph.nodes)
        result: Outcome | dict[str, Value]
        if self.pair.survives_fork(self.pair.candidate, operators):
            result = worker.step(text, feeds, graph.outputs, free=free, remote=True, **knobs)
            lost = isinstance(result, (Crashed, TimedOut))
        else:
            lost = True
        if lost:
            result = self.pair.isolated(self.pair.candidate, operators, text, feeds, graph.outputs, knobs)
            worker.open()
        elif isinstance(result, dict):
            result = _completed(worker, result)
        trace.tensors += len(graph.outputs)
        question = lazily.question()
        if settled:
            question = question.settled()
        else:
            question = self._screened(graph.nodes[0], specs, question)
        comparison = judge(question, reference, result)
        if comparison.verdict == "same" and comparison.ratio > 0 and self._fresh(graph.nodes[0]):
            comparison = self.pair.twin(lazily.case()) or comparison
        return comparison, result, lazily.case

    def _screened(self, node: Node, specs: Mapping[str, TensorSpec], question: Question) -> Question:
        """The question with the screen that earlier instances of the operator, on equal shapes, have earned."""
        name = f"{_constants(node)} {[(specs[n].shape, specs[n].dtype) for n in node.inputs if n in specs]}"

        def weighed(difference: float, ratio: float) -> None:
            self._earned[name] = max(self._earned.get(name, (1.0, 1.0)), (EARNED * difference, ratio / difference))

        screen, unit = self._earned.get(name, (1.0, 1.0))
        return msgspec.structs.replace(question, screen=screen, unit=unit, weighed=weighed)

    def _fresh(self, node: Node) -> bool:
        """True once for each operator with its constants: the float64 twin of one instance stands for all."""
        key = _constants(node)
        if key in self._twinned:
            return False
        self._twinned.add(key)
        return True

    def _held(self, name: str, slot: str) -> Outcome | dict[str, Value]:
        """One state entry as the reference holds it, under its name."""
        side = self.pair.reference
        return side.worker.step(
            Program((), (), {name: identifier(name, side.spec.backend)}), {}, (name,), remote=True, slot=slot
        )

    def _entry(self, held: Outcome | dict[str, Value], node: Node, trace: Trace) -> Comparison:
        """Load one entry on the candidate and compare it with what the checkpoint holds."""
        reference = self.pair.reference
        if not isinstance(held, dict):
            raise SessionLost(f"the reference's process was lost at the state entry {node.path!r}: {held}")
        (source,) = held.values()
        value = reference.worker.fetch(source)
        if value.dtype.name == "bfloat16":
            # NumPy has no such arrays: the entry goes as a tensor of the framework.
            node = msgspec.structs.replace(node, op="copy_", args=INTO)
        # Loading is exact: the truth is the entry itself, so the reference framework need not load it too.
        due = value.view.T if node.op == TURNED else value.view
        feeds = {"dst": Zeros(TensorSpec(due.shape, value.dtype.name)), "src": source}
        graph = Graph(node.inputs, (node,), ("out",))
        left = Completed({"out": Tensor(due, value.dtype)})
        feeds = {key: feeds[key] for key in graph.inputs}
        comparison, right, case = self._candidate(
            graph, {key: feed.spec for key, feed in feeds.items()}, feeds, left, trace, settled=True
        )
        if comparison.verdict == "diverges":
            self._remember(node, feeds, case, comparison, left, right)
        return comparison

    def _remember(self, node: Node, feeds: Mapping[str, Value], case, comparison, reference, candidate) -> None:
        """Keep the cheapest instance of each distinct suspected bug, with its inputs copied out of shared memory."""
        found = comparison.divergence
        assert found is not None
        key = (node.op, found.symptom, found.side)
        size = sum(math.prod(value.spec.shape) for value in feeds.values())
        known = self._best.get(key)
        if known is None or sum(t.size for t in known.feeds.values()) > size:
            self._best[key] = Site(node, case().feeds, comparison, reference, candidate)

    def materialise(self, feeds: Mapping[str, Value]) -> dict[str, Tensor]:
        """Copies of values in the host's own memory."""
        out = {}
        for name, value in feeds.items():
            if isinstance(value, Zeros):
                out[name] = Tensor(np.zeros(value.spec.shape, dtype(value.spec.dtype).storage), value.spec.dtype)
            else:
                seen = self.pair.reference.worker.fetch(value)
                out[name] = Tensor(seen.base.copy(), seen.dtype, seen.layout)
        return out


def _completed(worker: Worker, values: Mapping[str, Value]) -> Completed:
    """An outcome over a worker's shared memory; copied out of it if a float64 run for one value would cost the next."""
    seen = {name: worker.fetch(value) for name, value in values.items()}
    if len(seen) > 1:
        seen = {name: Tensor(value.base.copy(), value.dtype, value.layout) for name, value in seen.items()}
    return Completed(seen)


def aten_call(node: Node, backend: Backend) -> Program:
    """A step as a call of ATen itself: for torch alone, where an operator has no row."""
    names = {name: identifier(name, backend) for name in (*node.inputs, *node.outputs)}
    arguments = ", ".join(
        f"{key}={ast.unparse(literal(value, names, backend.dtypes))}" for key, value in node.args.items()
    )
    targets = ", ".join(names[name] for name in node.outputs)
    return Program((), (Step(node.name, (f"{targets} = torch.ops.aten.{node.op}({arguments})",), ()),), names)


def _constants(node: Node) -> str:
    """An operator with its constants: what instances of one kind share."""
    return f"{node.op} {[(k, v) for k, v in node.args.items() if not any(True for _ in refs(v))]}"


def _layers(graph: Graph) -> dict[str, Node]:
    """Graph input -> the step that loads it through its layer, for those whose layer matters."""
    found = {}
    for node in graph.nodes:
        for (op, param), (loader, source, kept) in LAYERS.items():
            held = node.args.get(param)
            if node.op == op and isinstance(held, Ref) and held.name in graph.inputs:
                args = {source: Ref("src"), **{key: node.args[key] for key in kept}}
                found[held.name] = Node(loader, args, ("out",))
    return found


def _aliased(text: Program, node: Node, backend: Backend) -> Program:
    """The program with each output also under the name that later steps use (a written tensor keeps its own)."""
    names = {name: identifier(name, backend) for name in node.outputs}
    lines = tuple(f"{own} = {text.variables[name]}" for name, own in names.items() if text.variables[name] != own)
    step = text.steps[0]
    return msgspec.structs.replace(text, steps=(msgspec.structs.replace(step, lines=step.lines + lines),))


class _Lazy:
    """The case of one step, copied out of shared memory only if the verdict asks for float64."""

    def __init__(self, stream: Stream, graph: Graph, feeds: Mapping[str, Value]):
        self.stream, self.graph, self.feeds = stream, graph, feeds
        self._case: Case | None = None

    def case(self) -> Case:
        if self._case is None:
            feeds = self.stream.materialise(self.feeds)
            self._case = msgspec.structs.replace(self.stream.template, graph=self.graph, feeds=feeds)
        return self._case

    def question(self) -> Question:
        pair = self.stream.pair
        specs = {name: value.spec for name, value in self.feeds.items()}
        return pair.lazy_question(self.graph, specs, self.case)
