"""No single step is guilty, yet the outputs differ: find the smallest set of steps that is wrong together.

Cut inputs are pinned to the reference's values, and only values that leave the set anyway are looked at: a tap on an
inner value would keep a compiler from fusing there, and hide the bug. Halves and the middle window come first because
they keep the compiled program small; QuickXplain then finds the few steps that matter (design note, section 4.3).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

import msgspec
import numpy as np

from minrepro.backends.program import Program, identifier, program
from minrepro.compare.pair import Pair
from minrepro.compare.verdict import bound, judge
from minrepro.ir.case import Case
from minrepro.ir.divergence import Comparison, Divergence, Site
from minrepro.ir.graph import Graph, Node
from minrepro.ir.outcome import Completed, Outcome
from minrepro.ir.tensor import Tensor, TensorSpec
from minrepro.localise.bypass import bypass
from minrepro.localise.subsets import essential

NOISE_RUNS = 2
"""Runs of the reference on inputs that differ by one rounding, to see how much rounding grows along the graph."""
REAL = 10.0
"""End to end, a deviation this many times the grown rounding is real (design note, section 5.6)."""


class EndToEnd:
    """Runs the whole graph, or a part of it, on both sides.

    Args:
        pair: both sides; the reference's session holds every graph input.
        template: case to take settings from.
        graph: the captured program; steps that no output needs (the refused ones) are left away.
        specs: spec of every value, from the teacher-forced pass.
    """

    def __init__(self, pair: Pair, template: Case, graph: Graph, specs: Mapping[str, TensorSpec]):
        self.pair, self.template, self.graph, self.specs = pair, template, _relaxed(graph.needed()), specs
        self.captured = {id(node): node for node in self.graph.nodes}
        self.queries = 0
        self.real = math.inf
        self.found: list[Node] = []

    def compare(self) -> Comparison:
        """Compare the outputs of the whole graph; rounding that has grown along the way is no divergence."""
        feeds = self._values(self.graph.inputs)
        left = self._reference(feeds)
        right = self._candidate(self.graph, feeds)
        if not isinstance(left, Completed) or not isinstance(right, Completed):
            found = Divergence("exception", "candidate", detail=f"the whole graph: {left} against {right}")
            return Comparison("unresolved" if not isinstance(left, Completed) else "diverges", math.inf, found)
        for name in self.graph.outputs:
            a, b = left.values[name], right.values[name]
            if a.shape != b.shape or a.dtype != b.dtype:
                why = f"{name}: {a.spec} on the reference, {b.spec} on the candidate"
                return Comparison("diverges", math.inf, Divergence("shape", "candidate", name, detail=why))
        worst = _apart(left, right, self.graph.outputs)
        # Rounding of independent steps adds up like the root of their number.
        allowed = bound(1000) * math.sqrt(len(self.graph.nodes))
        if worst <= allowed:
            return Comparison("same", worst / allowed)
        self.real = REAL * self._grown(left, feeds) * math.sqrt(len(self.graph.nodes))
        if worst <= self.real:
            why = f"end to end {worst:.3g} roundings apart, which is how much one rounding of the inputs grows"
            return Comparison("arithmetic", worst / allowed, why=why)
        name = self.graph.outputs[0]
        detail = f"end to end {worst:.3g} roundings apart; no single step is wrong on right inputs"
        return Comparison("diverges", worst / allowed, Divergence("value", "candidate", name, detail=detail))

    def _grown(self, left: Completed, feeds: Mapping[str, Tensor]) -> float:
        """How many roundings apart the reference's outputs come if every input is off by one rounding."""
        random = np.random.RandomState(self.template.seed)
        worst = 0.0
        for _ in range(NOISE_RUNS):
            moved = {name: _nudged(tensor, random) for name, tensor in feeds.items()}
            again = self._reference(moved)
            if isinstance(again, Completed):
                for name in self.graph.outputs:
                    a, b = left.values[name], again.values[name]
                    if a.dtype.inexact and a.shape == b.shape:
                        worst = max(worst, _deviation(a, b) / a.dtype.roundoff)
        return max(worst, 1.0)

    def search(self) -> Site | None:
        """The smallest set of steps that diverges with pinned inputs, as a site whose case has several nodes."""
        self._keep_everything()
        nodes = self._flow(self._narrow(list(self.graph.nodes)))
        kept = essential(nodes, lambda some: bool(some) and self._fails(some))
        if not self._fails(kept):
            return None
        self.found = kept
        case = self.case(kept)
        comparison, left, right = self.pair.compare(case)
        last = kept[-1]
        return Site(last, case.feeds, comparison, left, right)

    def _narrow(self, nodes: list[Node]) -> list[Node]:
        """Halve while one half, or the window in the middle, still diverges."""
        while len(nodes) > 2:
            half, quarter = len(nodes) // 2, len(nodes) // 4
            for part in (nodes[:half], nodes[half:], nodes[quarter : quarter + half]):
                if self._fails(part):
                    nodes = part
                    break
            else:
                return nodes
        return nodes

    def _flow(self, nodes: list[Node]) -> list[Node]:
        """Take out of the flow what a fault that follows it does not need: whole kinds of steps, then single ones."""
        part = self.graph.subgraph(tuple(nodes))
        kinds = list(dict.fromkeys(node.op for node in nodes))
        if len(kinds) < 3:
            return nodes
        some = essential(kinds, lambda some: self._flows(part, {n.name for n in nodes if n.op in some}))
        if len(some) == len(kinds):
            return nodes
        part = bypass(part, {node.name for node in nodes if node.op in some})
        names = [node.name for node in part.nodes]
        part = bypass(part, essential(names, lambda some: self._flows(part, some)))
        self.graph = part
        return list(part.nodes)

    def _flows(self, part: Graph, keep: Collection[str]) -> bool:
        """Does the fault stay if only these steps are kept in the flow?"""
        graph = bypass(part, keep)
        return len(keep) == len(part.nodes) or bool(graph.nodes) and self._diverges(self._fed(graph))

    def _fails(self, nodes: list[Node]) -> bool:
        return bool(nodes) and self._diverges(self.case(nodes))

    def _diverges(self, case: Case) -> bool:
        left = self.pair.run(case, self.pair.reference)
        if not isinstance(left, Completed):
            return False
        self.queries += 1
        right = self.pair.run(case, self.pair.candidate)
        if _apart(left, right, case.graph.outputs) > self.real:
            # No part of the graph makes rounding grow more than all of it: a float64 run would say the same.
            return True
        return judge(self.pair.question(case), left, right).verdict == "diverges"

    def case(self, nodes: list[Node]) -> Case:
        """Some steps alone, with pinned inputs."""
        return self._fed(self.graph.subgraph(tuple(nodes)))

    def _fed(self, graph: Graph) -> Case:
        case = msgspec.structs.replace(self.template, graph=graph, feeds=self._values(graph.inputs))
        if all(id(node) in self.captured for node in graph.nodes):
            self.pair.learn(case, self.specs)
        return case

    # -- values of the reference ------------------------------------------------------------------------------

    def _values(self, names: tuple[str, ...]) -> dict[str, Tensor]:
        """Values from the reference's session."""
        backend = self.pair.reference.spec.backend
        held = Program((), (), {name: identifier(name, backend) for name in names})
        outcome = self.pair.reference.worker.step(held, {}, names)
        return dict(outcome.values) if isinstance(outcome, Completed) else {}

    def _keep_everything(self) -> None:
        """Run the graph once more in the session, where every inner value now stays."""
        text = program(self.graph, self.specs, self.pair.reference.spec.backend)
        self.pair.reference.worker.step(text, {}, (), deadline=self.pair.deadline_s * 4)

    def _reference(self, feeds: Mapping[str, Tensor]) -> Outcome:
        text = program(self.graph, self.specs, self.pair.reference.spec.backend)
        return self.pair.reference.worker.run(text, feeds, self.graph.outputs, deadline=self.pair.deadline_s * 4)

    def _candidate(self, graph: Graph, feeds: Mapping[str, Tensor]) -> Outcome:
        text = program(graph, self.specs, self.pair.candidate.spec.backend)
        operators = frozenset(node.op for node in graph.nodes)
        knobs = {"deadline": self.pair.deadline_s * 4}
        return self.pair.isolated(self.pair.candidate, operators, text, feeds, graph.outputs, knobs)


def _relaxed(graph: Graph) -> Graph:
    """The graph with reshapes for views: whether memory can be viewed depends on layouts that are each framework's own."""

    def relax(node: Node) -> Node:
        if node.op != "view":
            return node
        args = {"self": node.args["self"], "shape": node.args["size"]}
        return msgspec.structs.replace(node, op="reshape", args=args)

    return msgspec.structs.replace(graph, nodes=tuple(map(relax, graph.nodes)))


def _apart(left: Completed, right: Outcome, names: tuple[str, ...]) -> float:
    """How many roundings the worst output of two runs is apart; 0 where that cannot be said."""
    worst = 0.0
    for name in names if isinstance(right, Completed) else ():
        a, b = left.values[name], right.values[name]
        if a.shape == b.shape and a.dtype == b.dtype:
            gap = _deviation(a, b)
            worst = max(worst, gap / a.dtype.roundoff if a.dtype.inexact else math.inf if gap else 0.0)
    return worst


def _deviation(a: Tensor, b: Tensor) -> float:
    """RMS of the difference relative to the RMS of the values; infinite if one side alone is not finite."""
    x, y = a.values, b.values
    if not np.array_equal(np.isfinite(x), np.isfinite(y)):
        return math.inf
    known = np.isfinite(x)
    if not known.any():
        return 0.0
    scale = math.sqrt(float(np.mean(np.abs(x[known]) ** 2)))
    return math.sqrt(float(np.mean(np.abs(x[known] - y[known]) ** 2))) / max(scale, 1e-300)


def _nudged(tensor: Tensor, random: np.random.RandomState) -> Tensor:
    """The tensor with every floating value off by about one rounding."""
    if tensor.dtype.kind != "float" or tensor.dtype.name == "bfloat16":
        return tensor
    noise = 1.0 + tensor.dtype.roundoff * 2.0 * random.standard_normal(tensor.base.shape)
    return tensor.with_base((tensor.base * noise).astype(tensor.dtype.storage))
