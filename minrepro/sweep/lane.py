"""Evaluates the cases of one operator after the other on a pair of workers of its own.

Cases run in sessions, thousands per second; whatever diverges there is run again alone, and only that counts.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from minrepro.compare.pair import Pair, Side, open_side
from minrepro.compare.verdict import judge
from minrepro.errors import Unsupported
from minrepro.ir.case import Case
from minrepro.ir.divergence import Comparison
from minrepro.ir.outcome import Completed, Crashed, Outcome, Raised, TimedOut, Unspelled
from minrepro.ir.signature import Signature
from minrepro.shrink.oracle import signature_of
from minrepro.sweep.plan import Item
from minrepro.sweep.warm import WarmPair

NO_KERNEL = re.compile(
    r"not implemented|not support|unsupported|only support|is not registered|no kernel|unimplemented"
    r"|cannot find the kernel|data ?type of .* must be|dtype must be|dtype not match|dtype of .* must be"
    r"|must be one of .*(float|int)|must be int or float|unexpected data ?type",
    re.IGNORECASE,
)
"""Texts by which a framework says that it has no kernel for a dtype."""
MISSING = "no kernel: "
"""Start of the reason of an ``unsupported`` that the candidate itself gave, not the operator table."""


class Finding(msgspec.Struct, frozen=True):
    """What one case showed: the judgement, and the identity of the divergence if there is one."""

    comparison: Comparison
    signature: Signature | None = None


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

    def start(self) -> None:
        """Wait until both frameworks are imported.

        Raises:
            WorkerError: if one cannot be.
        """
        self.alone.reference.worker.ensure()
        self.alone.candidate.worker.ensure()

    def evaluate(self, item: Item, case: Case) -> Finding:
        """Judge one case."""
        why = self._lacking(case)
        if why:
            return Finding(Comparison("unsupported", why=why))
        left = self._run(case, self.warm.reference, self.alone.reference)
        if isinstance(left, Unspelled):
            return Finding(Comparison("unsupported", why=f"reference: {left.why}"))
        if not isinstance(left, Completed) and not item.given:
            return Finding(Comparison("refused", why=f"the reference does not take it: {type(left).__name__}"))
        right = self.warm.run(case, self.warm.candidate)
        found = _finding(case, judge(self.warm.question(case), left, right), left, right)
        if found.signature is None or found.signature in self._believed:
            return found
        alone = self.confirm(case)
        if alone.comparison.verdict == "same" and not isinstance(right, (Crashed, TimedOut)):
            return Finding(Comparison("unresolved", why="it differs among other cases of its operator, but not alone"))
        return alone

    def confirm(self, case: Case) -> Finding:
        """Judge one case in children of its own."""
        comparison, left, right = self.alone.compare(case)
        found = _finding(case, comparison, left, right)
        if found.signature is not None and found.signature.symptom in ("exception", "accepted", "dtype"):
            # The same exception or dtype of the same operator once more needs no second look.
            self._believed.add(found.signature)
        return found

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

    def texts(self, case: Case) -> list[str]:
        """What the two sides would run, or why they cannot: an answer is to this and not to the operator's name."""
        return [self._text(case, side) for side in (self.warm.reference, self.warm.candidate)]

    def _text(self, case: Case, side: Side) -> str:
        try:
            return repr(self.warm.spell(case, side))
        except Unsupported as error:
            return str(error)

    def _run(self, case: Case, warm: Side, alone: Side) -> Outcome:
        outcome = self.warm.run(case, warm)
        return self.alone.run(case, alone) if isinstance(outcome, (Crashed, TimedOut)) else outcome

    def _lacking(self, case: Case) -> str:
        """What the candidate does not have to run this case; empty if nothing is missing."""
        try:
            self.warm.spell(case, self.warm.candidate)
        except Unsupported as error:
            return f"candidate: {error}"
        return ""


def _finding(case: Case, comparison: Comparison, left: Outcome, right: Outcome) -> Finding:
    if comparison.verdict != "diverges":
        return Finding(comparison)
    if isinstance(right, Raised) and isinstance(left, Completed) and NO_KERNEL.search(right.message):
        return Finding(Comparison("unsupported", why=f"{MISSING}{_first_line(right.message)}"))
    return Finding(comparison, signature_of(case, comparison, right, left))


def _first_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if NO_KERNEL.search(line)), lines[0] if lines else "")[:240]
