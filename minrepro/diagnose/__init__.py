"""Case, outcomes -> Diagnosis: why, and whose fault.

A cause counts only if its experiment predicted something and saw it. Each rule is one file in `rules/` with

    CAUSE: its name
    SENTENCE: what it means, for the report
    probes(scene) -> probes, the first of which decides whether the cause is a candidate at all; empty if it cannot apply

Otherwise the report says ``unexplained`` and lists what was ruled out.
"""

from __future__ import annotations

import msgspec

from minrepro import registry
from minrepro.compare.pair import Pair
from minrepro.compare.verdict import judge
from minrepro.ir.case import Case
from minrepro.ir.divergence import Comparison, Divergence
from minrepro.ir.outcome import Completed, Outcome
from minrepro.ir.reduction import Diagnosis
from minrepro.ir.tensor import Tensor


class Scene(msgspec.Struct, frozen=True):
    """What a rule may look at and ask.

    Attributes:
        pair: both sides, for experiments.
        case: the diverging case.
        reference, candidate: what the sides did with it.
        divergence: the judgement.
    """

    pair: Pair
    case: Case
    reference: Outcome
    candidate: Outcome
    divergence: Divergence

    @property
    def expected(self) -> Tensor | None:
        """The reference's value of the output that differs."""
        return self._value(self.reference)

    @property
    def actual(self) -> Tensor | None:
        """The candidate's value of the output that differs."""
        return self._value(self.candidate)

    def _value(self, outcome: Outcome) -> Tensor | None:
        return outcome.values.get(self.divergence.output) if isinstance(outcome, Completed) else None

    def retry(self, case: Case) -> Comparison:
        """Judge a changed case."""
        left, right = self.pair.run(case, self.pair.reference), self.pair.run(case, self.pair.candidate)
        return judge(self.pair.question(case), left, right)


def diagnose(scene: Scene) -> Diagnosis:
    """Try every rule; the one with the most confirmed probes and none refuted is the cause."""
    ruled_out, best = [], None
    for name, module in sorted(_rules().items()):
        probes = tuple(module.probes(scene))
        if not probes:
            continue
        if all(probe.confirmed for probe in probes):
            found = Diagnosis(module.CAUSE, scene.divergence.side, module.SENTENCE, probes)
            if best is None or (len(probes), module.WEIGHT) > best[0]:
                best = ((len(probes), module.WEIGHT), found)
        else:
            ruled_out.append(module.CAUSE)
    if best is not None:
        return msgspec.structs.replace(best[1], ruled_out=tuple(ruled_out))
    sentence = f"the {scene.divergence.side} side is wrong and no known cause predicts how"
    if scene.divergence.side == "unknown":
        sentence = "the sides differ, and float64 does not settle which one is wrong"
    return Diagnosis("unexplained", scene.divergence.side, sentence, (), tuple(ruled_out))


def _rules() -> dict[str, object]:
    return {module.__name__: module for module in registry.modules("minrepro.diagnose.rules")}
