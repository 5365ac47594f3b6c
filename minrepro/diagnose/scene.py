"""What a rule may look at and ask: a diverging case, what both sides did, and experiments on either of them.

"Actual" is the value of the side that is wrong, "expected" that of the other one, whichever framework it is.
"""

from __future__ import annotations

import hashlib
from typing import Any, Callable, Iterator, Mapping, Sequence

import msgspec
import numpy as np

from minrepro import ops
from minrepro.backends.program import Step
from minrepro.compare.magnitude import rms
from minrepro.compare.pair import Pair, Side
from minrepro.compare.verdict import CERTAIN, Question, bound, judge
from minrepro.ir import codec
from minrepro.ir.case import Case
from minrepro.ir.divergence import Comparison, Divergence
from minrepro.ir.graph import Graph, Node, Ref
from minrepro.ir.outcome import Completed, Outcome
from minrepro.ir.reduction import Rate
from minrepro.ir.tensor import Tensor
from minrepro.ops.gradient import forward, is_gradient
from minrepro.ops.row import REQUIRED

DISTINCT = 8.0
"""How many times closer than the right result a prediction has to come to what was seen."""


class Scene(msgspec.Struct, frozen=True):
    """What a rule may look at and ask.

    Attributes:
        pair: both sides, for experiments.
        case: the diverging case.
        reference, candidate: what the sides did with it.
        divergence: the judgement.
        rate: how often the case diverges; None if it does in every run.
        memory: answers of experiments that several rules make.
    """

    pair: Pair
    case: Case
    reference: Outcome
    candidate: Outcome
    divergence: Divergence
    rate: Rate | None = None
    memory: dict[Any, Any] = {}

    # -- what is known ----------------------------------------------------------------------------------------

    @property
    def symptom(self) -> str:
        """See `ir.divergence.SYMPTOMS`."""
        return self.divergence.symptom

    @property
    def reversed(self) -> bool:
        """True if the reference is the side that is wrong."""
        return self.divergence.side == "reference"

    @property
    def expected(self) -> Tensor | None:
        """The right side's value of the output that differs."""
        return self.value(self.candidate if self.reversed else self.reference)

    @property
    def actual(self) -> Tensor | None:
        """The wrong side's value of the output that differs."""
        return self.value(self.reference if self.reversed else self.candidate)

    def value(self, outcome: Outcome) -> Tensor | None:
        """The output that differs, in an outcome."""
        return outcome.values.get(self.divergence.output) if isinstance(outcome, Completed) else None

    @property
    def right(self) -> Side:
        """The side that is right."""
        return self.pair.candidate if self.reversed else self.pair.reference

    @property
    def wrong(self) -> Side:
        """The side that is wrong."""
        return self.pair.reference if self.reversed else self.pair.candidate

    @property
    def question(self) -> Question:
        """How the case is judged; its float64 runs are made once."""
        return self._once("question", lambda: self.pair.question(self.case))

    @property
    def truth(self) -> np.ndarray | None:
        """The float64 result of the output that differs."""
        truth = self.question.truth()
        second = self.question.second() if self.reversed else None
        found = second if second is not None else truth.values if truth is not None else {}
        return found.get(self.divergence.output)

    @property
    def feeds(self) -> dict[str, Tensor]:
        """The feeds that the graph reads."""
        return {name: self.case.feeds[name] for name in self.case.graph.inputs}

    # -- changed cases ----------------------------------------------------------------------------------------

    def with_feeds(self, change: Callable[[Tensor], Tensor], of: Callable[[Tensor], bool] = lambda t: True) -> Case:
        """The case with some feeds changed."""
        feeds = {name: change(tensor) if of(tensor) else tensor for name, tensor in self.feeds.items()}
        return msgspec.structs.replace(self.case, feeds={**self.case.feeds, **feeds})

    def with_feed(self, name: str, tensor: Tensor) -> Case:
        """The case with one other feed."""
        return msgspec.structs.replace(self.case, feeds={**self.case.feeds, name: tensor})

    def with_node(
        self, old: Node, args: Mapping[str, Any] = {}, op: str = "", drop: tuple[str, ...] = (),
        outputs: Sequence[str] = (),
    ) -> Case:
        """The case with a step changed: other arguments, or another operator.

        Args:
            old: the step.
            args: arguments to set.
            op: the operator instead; "" for the same.
            drop: arguments to leave away.
            outputs: the results instead, if they are others; the graph's as well.
        """
        kept = {name: arg for name, arg in {**old.args, **args}.items() if name not in drop}
        new = msgspec.structs.replace(old, op=op or old.op, args=kept, outputs=tuple(outputs) or old.outputs)
        nodes = tuple(new if node is old else node for node in self.case.graph.nodes)
        used = {name for node in nodes for name in node.inputs}
        outputs = tuple(outputs) or self.case.graph.outputs
        inputs = tuple(name for name in self.case.graph.inputs if name in used or name in outputs)
        graph = msgspec.structs.replace(self.case.graph, nodes=nodes, inputs=inputs, outputs=outputs)
        return msgspec.structs.replace(self.case, graph=graph)

    @property
    def gradient(self) -> Node | None:
        """The step of a case that is the gradient of a single step; None for any other."""
        node, *others = self.case.graph.nodes
        return node if not others and is_gradient(node.op) else None

    def undifferentiated(self) -> Case | None:
        """The step whose gradient the case is; None if it is no gradient of a single step."""
        if self.gradient is None:
            return None
        step = forward(self.gradient)
        step = msgspec.structs.replace(step, outputs=tuple(f"made{i}" for i in range(len(step.outputs))))
        inputs = tuple(dict.fromkeys(step.inputs))
        return msgspec.structs.replace(self.case, graph=Graph(inputs, (step,), step.outputs), mode="forward")

    def arguments(self, parameter: str) -> Iterator[tuple[Node, Any]]:
        """The steps whose operator has a parameter, with its argument or default."""
        for node in self.case.graph.nodes:
            row = ops.find(node.op)
            if row is not None and parameter in row.params:
                value = node.args.get(parameter, row.params[parameter])
                yield node, None if value is REQUIRED else value

    def tensor(self, node: Node, parameter: str) -> Tensor | None:
        """The feed that a step reads as one of its parameters."""
        arg = node.args.get(parameter)
        return self.case.feeds.get(arg.name) if isinstance(arg, Ref) else None

    # -- experiments ------------------------------------------------------------------------------------------

    def run(self, case: Case, side: Side, attempt: int = 0) -> Outcome:
        """Run a case on a side; the same question is asked once per `attempt`."""
        return self._once(("run", _name(case), side is self.wrong, attempt), lambda: self.pair.run(case, side))

    def run_after(self, lines: tuple[str, ...], returns: tuple[str, ...] = ()) -> Outcome:
        """Run the case on the wrong side after some lines of Python in the same process.

        Args:
            lines: what to do first.
            returns: values to return; the graph's outputs by default.
        """

        def ask() -> Outcome:
            side, case = self.wrong, self.case
            text = self.pair.spell(case, side)
            first = (Step("before", lines, ()),) if lines else ()
            text = msgspec.structs.replace(text, steps=(*first, *text.steps))
            knobs = {"deadline": self.pair.deadline_s, "threads": case.threads, "seed": case.seed}
            operators = frozenset(node.op for node in case.graph.nodes)
            return self.pair.isolated(side, operators, text, self.feeds, returns or case.graph.outputs, knobs)

        return self._once(("after", lines, returns), ask)

    def predicted(self, case: Case) -> Tensor | None:
        """What the right side makes of a changed case."""
        return self.value(self.run(case, self.right))

    def retry(self, case: Case) -> Comparison:
        """Judge a changed case."""

        def ask() -> Comparison:
            left, right = self.run(case, self.pair.reference), self.run(case, self.pair.candidate)
            return judge(self.pair.question(case), left, right)

        return self._once(("retry", _name(case)), ask)

    def cured(self, case: Case) -> bool:
        """True if both sides agree on a changed case."""
        return self.retry(case).verdict in ("same", "arithmetic")

    def gone(self, case: Case) -> bool:
        """True if a changed case no longer shows the symptom: where something fails, that it does not fail any more.

        What it answers then is another question, since its dtype may be a documented one.
        """
        found = self.retry(case).divergence
        failing = ("crash", "hang", "exception")
        answers = found is not None and self.symptom in failing and found.symptom not in (*failing, "accepted")
        return answers or self.cured(case)

    def explains(self, prediction: Tensor | np.ndarray | None) -> bool:
        """Is a prediction what the wrong side answered, and not just close to what is right?"""
        actual, expected = self.actual, self.expected
        if prediction is None or actual is None:
            return False
        if isinstance(prediction, Tensor):
            other = prediction.dtype != actual.dtype
            if prediction.dtype.inexact != actual.dtype.inexact or self.symptom == "dtype" and other:
                return False
            prediction = prediction.values if actual.dtype.inexact else prediction.view
        seen = actual.values if actual.dtype.inexact else actual.view
        if prediction.shape != seen.shape or not seen.size:
            return False
        with np.errstate(all="ignore"):
            equal = (seen == prediction) | (np.isnan(seen) & np.isnan(prediction))
            if equal.all():
                return True
            if not actual.dtype.inexact or not (np.isfinite(seen) == np.isfinite(prediction)).all():
                return False
            gap = np.where(equal, 0.0, np.abs(seen - prediction))
            if not np.all(gap <= CERTAIN * bound(seen.size) * self.scale(prediction, actual)):
                return False
            if expected is None or expected.shape != actual.shape:
                return True
            apart = np.abs(seen - expected.values)
        return not np.isfinite(apart).all() or float(gap.max()) * DISTINCT <= float(apart.max())

    def scale(self, prediction: np.ndarray, actual: Tensor) -> np.ndarray:
        """Ordinary rounding of each element of a prediction."""
        truth = self.question.truth()
        s = truth.sensitivity.get(self.divergence.output) if truth is not None else None
        spread = s if s is not None and s.shape == prediction.shape else np.zeros(prediction.shape)
        spread = np.where(np.isfinite(spread), spread, 0.0)
        size = np.abs(prediction) + spread + rms(prediction)
        return actual.dtype.roundoff * size * self.question.growth + actual.dtype.tiny

    def _once(self, key: Any, ask: Callable[[], Any]) -> Any:
        if key not in self.memory:
            self.memory[key] = ask()
        return self.memory[key]


def _name(case: Case) -> bytes:
    return hashlib.sha256(codec.encode(case)).digest()
