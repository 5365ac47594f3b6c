"""Evaluates the cases of one operator after the other on a pair of workers of its own.

Cases run in sessions, thousands per second; whatever diverges there is run again alone, and only that counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import msgspec

from minrepro.backends.program import Program
from minrepro.compare.pair import Pair, Side, open_side
from minrepro.compare.verdict import judge
from minrepro.diagnose import Scene, legal
from minrepro.diagnose.conventions import about
from minrepro.errors import Unsupported
from minrepro.ir.case import Case
from minrepro.ir.divergence import Comparison
from minrepro.ir.outcome import Completed, Crashed, Outcome, Raised, TimedOut, Unspelled
from minrepro.ir.reduction import Diagnosis
from minrepro.ir.signature import Signature
from minrepro.localise.gradients import label
from minrepro.shrink.oracle import signature_of
from minrepro.sweep.backward import MODE, Nothing, Pinned, Ready, opened, ready, without
from minrepro.sweep.plan import Item
from minrepro.sweep.warm import WarmPair

NO_KERNEL = re.compile(
    r"not implemented|not support|unsupported|only support|is not registered|no kernel|unimplemented"
    r"|cannot find the kernel|data ?type of .* must be|dtype must be|dtype not match|dtype of .* must be"
    r"|must be one of .*(float|int)|must be int or float|unexpected data ?type|gradient function for op \w+ is not found",
    re.IGNORECASE,
)
"""Texts by which a framework says that it has no kernel for a dtype, or no gradient of an operator."""
GARBAGE = re.compile(r"invalid dimension to be accessed", re.IGNORECASE)
"""A shape or an axis that the framework made itself and then refuses: words about support hide a bug there."""
Run = Callable[[Case], Outcome]
"""Evaluates a case on the reference."""
MISSING = "no kernel: "
"""Start of the reason of an ``unsupported`` that the candidate itself gave, not the operator table."""


class Finding(msgspec.Struct, frozen=True):
    """What one case showed: the judgement, the identity of a divergence, and what a gradient step looks like.

    `legal` is the documented difference or the setting that explains the divergence, so that it is nobody's bug.
    """

    comparison: Comparison
    signature: Signature | None = None
    pinned: Pinned | None = None
    legal: Diagnosis | None = None


class _Asked(msgspec.Struct, frozen=True):
    """A question to the candidate: the case, what the reference made of it, and the step whose gradient it is."""

    case: Case
    left: Outcome
    pinned: Pinned | None = None
    of: Case | None = None


class Lane:
    """A reference and a candidate worker that evaluate cases one after the other.

    Args:
        reference, candidate: backend specs.
        folder: where logs go.
        deadline_s: time one evaluation may take.
    """

    def __init__(self, reference: str, candidate: str, folder: Path, deadline_s: float):
        left = open_side(reference, folder)
        try:
            right = open_side(candidate, folder)
        except BaseException:
            left.worker.stop()
            raise
        self.alone = Pair(left, right, folder, deadline_s)
        self.warm = WarmPair(self.alone)
        self._believed: set[Signature] = set()

    def start(self, gradients: bool = False) -> None:
        """Wait until both frameworks are imported.

        Args:
            gradients: import what gradients need as well, so that not every session does.

        Raises:
            WorkerError: if one cannot be.
        """
        self.alone.reference.worker.ensure()
        self.alone.candidate.worker.ensure()
        if gradients:
            for side in (self.alone.reference, self.alone.candidate):
                side.worker.run(Program((), (), {}, gradients=True), {}, ())

    def evaluate(self, item: Item, case: Case) -> Finding:
        """Judge one case of the plan, among others of its operator."""
        asked = self._asked(item, case, self._run)
        if isinstance(asked, Finding):
            return asked
        right = self.warm.run(asked.case, self.warm.candidate)
        found = _finding(asked, judge(self.warm.question(asked.case), asked.left, right), asked.left, right)
        if found.signature is None or found.signature in self._believed:
            return self._weighed(found, asked, asked.left, right)
        alone = self._confirm(asked, self._run)
        fewer = alone.pinned != asked.pinned
        if alone.comparison.verdict == "same" and not fewer and not isinstance(right, (Crashed, TimedOut)):
            why = "it differs among other cases of its operator, but not alone"
            return Finding(Comparison("unresolved", why=why), pinned=asked.pinned)
        return alone

    def isolated(self, item: Item, case: Case) -> Finding:
        """Judge one case of the plan in children of its own."""

        def run(one: Case) -> Outcome:
            return self.alone.run(one, self.alone.reference)

        asked = self._asked(item, case, run)
        return asked if isinstance(asked, Finding) else self._confirm(asked, run)

    def _asked(self, item: Item, case: Case, run: Run) -> _Asked | Finding:
        """What the candidate is to be asked, with the reference's answer; a finding where there is nothing to ask."""
        why = self._lacking(opened(case) if item.mode == MODE else case)
        if why:
            return Finding(Comparison("unsupported", why=why))
        if item.mode == MODE:
            return _step(case, ready(case, run))
        left = run(case)
        if isinstance(left, Unspelled):
            return Finding(Comparison("unsupported", why=f"reference: {left.why}"))
        if not isinstance(left, Completed) and not item.given:
            return Finding(Comparison("refused", why=f"the reference does not take it: {type(left).__name__}"))
        return _Asked(case, left)

    def _confirm(self, asked: _Asked, run: Run) -> Finding:
        """Judge in children of its own."""
        if asked.of is not None and self.alone.compare(asked.of)[0].verdict == "diverges":
            why = "the step itself differs, so that its gradient says nothing: see forward"
            return Finding(Comparison("unresolved", why=why), pinned=asked.pinned)
        comparison, left, right = self.alone.compare(asked.case)
        target = label(asked.case, comparison.divergence)
        if target is not None and asked.of is not None and asked.pinned is not None:
            fewer = _step(asked.of, without(asked.of, asked.pinned, target, run))
            return fewer if isinstance(fewer, Finding) else self._confirm(fewer, run)
        found = _finding(asked, comparison, left, right)
        if found.signature is not None and found.signature.symptom in ("exception", "accepted", "dtype"):
            # The same exception or dtype of the same operator once more needs no second look.
            self._believed.add(found.signature)
        return self._weighed(found, asked, left, right)

    def _weighed(self, found: Finding, asked: _Asked, left: Outcome, right: Outcome) -> Finding:
        """Ask of a divergence whether a documented difference or a setting explains it."""
        if found.signature is None or found.comparison.divergence is None:
            return found
        told = legal(Scene(self.alone, asked.case, left, right, found.comparison.divergence))
        return msgspec.structs.replace(found, legal=told)

    def finish(self) -> list[str]:
        """End the sessions of an operator; not empty if one of them did not end cleanly."""
        return self.warm.close()

    def stop(self) -> None:
        """End the workers."""
        for side in (self.warm.reference, self.warm.candidate):
            side.worker.stop()
        self.alone.stop()

    def versions(self) -> dict[str, str]:
        """Versions of what is compared: part of the name of an answer."""
        known: dict[str, str] = {}
        for side in (self.alone.reference, self.alone.candidate):
            known.update(side.worker.hello()["environment"])
        return known

    def texts(self, item: Item, case: Case) -> list[str]:
        """What the two sides would run, or why they cannot: an answer is to this and not to the operator's name.

        The conventions that it is held against belong to it.
        """
        case = opened(case) if item.mode == MODE else case
        known = [f"{row.name}: {row.cited}" for row in about(self.warm.candidate.spec.name, case)]
        return [*(self._text(case, side) for side in (self.warm.reference, self.warm.candidate)), *known]

    def _text(self, case: Case, side: Side) -> str:
        try:
            return repr(self.warm.spell(case, side))
        except Unsupported as error:
            return str(error)

    def _run(self, case: Case) -> Outcome:
        """Run a case on the reference; what is bad comes from a child of its own."""
        outcome = self.warm.run(case, self.warm.reference)
        bad = isinstance(outcome, (Crashed, TimedOut))
        return self.alone.run(case, self.alone.reference) if bad else outcome

    def _lacking(self, case: Case) -> str:
        """What the candidate does not have to run this case; empty if nothing is missing."""
        try:
            self.warm.spell(case, self.warm.candidate)
        except Unsupported as error:
            return f"candidate: {error}"
        return ""


def _step(of: Case, asked: Ready | Nothing) -> _Asked | Finding:
    if isinstance(asked, Nothing):
        return Finding(Comparison(asked.verdict, why=asked.why))
    return _Asked(asked.case, asked.outcome, asked.pinned, of)


def _finding(asked: _Asked, comparison: Comparison, left: Outcome, right: Outcome) -> Finding:
    if comparison.verdict != "diverges":
        return Finding(comparison, pinned=asked.pinned)
    if isinstance(right, Raised) and isinstance(left, Completed) and lacks(right.message):
        why = f"{MISSING}{_first_line(right.message)}"
        return Finding(Comparison("unsupported", why=why), pinned=asked.pinned)
    return Finding(comparison, signature_of(asked.case, comparison, right, left), asked.pinned)


def lacks(message: str) -> bool:
    """True if a text says that a framework has no kernel for what was asked."""
    return bool(NO_KERNEL.search(message)) and not GARBAGE.search(message)


def _first_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if NO_KERNEL.search(line)), lines[0] if lines else "")[:240]
