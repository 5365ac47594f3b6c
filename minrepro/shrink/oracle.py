"""The interestingness test: run a variant on both sides, compare its signature, remember the answer.

Four answers, and only the first is accepted: ``interesting`` (the same bug), ``clean``, ``slipped`` (another bug: kept
aside as a second finding), ``invalid`` (the reference refuses the variant) or ``unresolved`` (out of time, no
spelling). A variant that the reference refuses costs a probe, not a query.

Every answer goes to a journal before it is used, so a killed run resumes with no query asked twice.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path
from typing import Callable

import msgspec

from minrepro.compare.pair import Pair
from minrepro.compare.verdict import bound, judge
from minrepro.ir import codec
from minrepro.ir.case import Case
from minrepro.ir.divergence import Comparison
from minrepro.ir.outcome import Completed, Crashed, Outcome, Raised, Unspelled
from minrepro.ir.signature import BANDS, Signature, normalise
from minrepro.shrink.incoming import Fitter
from minrepro.shrink.order import key
from minrepro.shrink.siblings import SIMPLER


class BudgetSpent(Exception):
    """The search may not ask any more; the best case so far stands."""


class Answer(msgspec.Struct, frozen=True):
    """What a variant showed.

    Attributes:
        interest: ``interesting``, ``clean``, ``slipped``, ``invalid`` or ``unresolved``.
        signature: of the divergence, if there is one.
        ratio: its error ratio.
        why: one sentence for the certificate.
        index: position of the worst element of the output, to crop around.
    """

    interest: str
    signature: Signature | None = None
    ratio: float = 0.0
    why: str = ""
    index: tuple[int, ...] = ()


def signature_of(case: Case, comparison: Comparison, candidate: Outcome, reference: Outcome) -> Signature | None:
    """The identity of a divergence, or None if there is none."""
    found = comparison.divergence
    if comparison.verdict != "diverges" or found is None:
        return None
    outcome = reference if found.side == "reference" or found.symptom == "accepted" else candidate
    operators = tuple(dict.fromkeys(node.op for node in case.graph.nodes))
    if isinstance(outcome, Raised):
        return Signature(found.symptom, found.side, operators, outcome.kind, normalise(outcome.message), outcome.frame)
    if isinstance(outcome, Crashed):
        return Signature(found.symptom, found.side, operators, outcome.signal)
    return Signature(found.symptom, found.side, operators)


def band(ratio: float, elements: int) -> int:
    """Which band of severity a ratio is in: 0 near the bound, 2 far beyond it."""
    times = ratio / bound(elements)
    return sum(times > edge for edge in BANDS)


def _name(case: Case) -> str:
    return hashlib.sha256(codec.encode(case)).hexdigest()


class Oracle:
    """Asks about variants of one case.

    Args:
        pair: both sides.
        start: the case as it was found.
        signature: what has to stay.
        folder: where ``journal.jsonl`` and ``best.json`` live.
        max_queries, max_seconds: budget; None for no limit.
        say: called with the number of queries and the present best after each question.
    """

    def __init__(
        self,
        pair: Pair,
        start: Case,
        signature: Signature,
        folder: Path,
        max_queries: int | None = None,
        max_seconds: float | None = None,
        say: Callable[[int, Case], None] = lambda queries, best: None,
    ):
        self.pair, self.signature, self.folder, self.say = pair, signature, folder, say
        self.best, self.start = start, start
        self.max_queries, self.max_seconds = max_queries, max_seconds
        self.began = time.monotonic()
        self.queries: dict[str, int] = {"warm": 0, "cold": 0, "probes": 0, "cached": 0, "journal": 0}
        self.slipped: dict[Signature, Case] = {}
        self.level = "start"
        self.band0 = 0
        self.worst: tuple[int, ...] = ()
        self.due = False
        self._fitter = Fitter(lambda case: pair.run(case, pair.reference))
        self._answers: dict[str, Answer] = {}
        self._journal = folder / "journal.jsonl"
        self._resumed = self._read_journal()

    # -- asking -----------------------------------------------------------------------------------------------

    def observe(self, times: int = 3) -> list[Answer]:
        """Run the start several times; fixes the band and tells whether the bug is flaky."""
        self.level = "start"
        answers = [self._evaluate(self.start) for _ in range(times)]
        self.worst = next((a.index for a in answers if a.interest == "interesting"), ())
        ratios = [a.ratio for a in answers if a.interest == "interesting"]
        elements = max(1, self.start.elements)
        self.band0 = min((band(r, elements) for r in ratios), default=0)
        return answers

    def accepts(self, case: Case) -> bool:
        """Ask, and take the variant as the new best if it is interesting and smaller in the total order."""
        case = self._fitter.fit(case)
        if key(case) >= key(self.best):
            return False
        answer = self.ask(case)
        if answer.interest != "interesting":
            return False
        self.worst = answer.index
        self._take(case)
        return True

    def ask(self, case: Case) -> Answer:
        """Is this variant the same bug?

        Raises:
            BudgetSpent: if a new query is needed and the budget is gone.
        """
        case = self._fitter.fit(case)
        name = _name(case)
        if name in self._answers:
            self.queries["cached"] += 1
            return self._answers[name]
        if name in self._resumed:
            self.queries["journal"] += 1
            answer = self._resumed[name]
        else:
            self._check_budget()
            self._write({"begin": name, "level": self.level})
            answer = self._evaluate(case)
            self._write({"end": name, "answer": codec.plain(answer)})
        self._answers[name] = answer
        if answer.interest == "slipped" and answer.signature is not None:
            known = self.slipped.get(answer.signature)
            if known is None or key(case) < key(known):
                self.slipped[answer.signature] = case
        self.say(self.queries["warm"], self.best)
        return answer

    def refused(self, case: Case) -> bool:
        """True if a variant was asked before and the reference refused it."""
        known = self._answers.get(_name(self._fitter.fit(case)))
        return known is not None and known.interest == "invalid"

    def _evaluate(self, case: Case) -> Answer:
        why = case.lint()
        if why is not None:
            return Answer("invalid", why=why)
        left = self.pair.run(case, self.pair.reference)
        self.queries["probes"] += 1
        if isinstance(left, Unspelled):
            return Answer("unresolved", why=left.why)
        refusing = not isinstance(left, Completed)
        if self.level == "start":
            self.due = refusing or self.signature.symptom == "accepted" or self.signature.side == "reference"
        if refusing and not self.due:
            return Answer("invalid", why="the reference refuses it")
        right = self.pair.run(case, self.pair.candidate)
        self.queries["warm"] += 1
        self.queries[self.level] = self.queries.get(self.level, 0) + 1
        # Whether a precision setting explains the error does not change what the bug is, and costs several runs.
        question = msgspec.structs.replace(self.pair.question(case), rounded=lambda to: ())
        comparison = judge(question, left, right)
        return self.weigh(case, comparison, left, right)

    def weigh(self, case: Case, comparison: Comparison, left: Outcome, right: Outcome) -> Answer:
        """What a judgement means for the search: the same bug, another one, or none."""
        if comparison.verdict in ("same", "arithmetic", "shared"):
            return Answer("clean", None, comparison.ratio, "both sides agree")
        found = signature_of(case, comparison, right, left)
        if found is None:
            return Answer("unresolved", why=comparison.why)
        if not self._same(found):
            return Answer("slipped", found, comparison.ratio, f"another bug: {found}")
        elements = max(1, case.elements)
        if band(comparison.ratio, elements) < min(self.band0, len(BANDS)) and self.level != "start":
            return Answer("clean", found, comparison.ratio, "the error falls to the edge of rounding")
        worst = comparison.divergence.index if comparison.divergence is not None else ()
        return Answer("interesting", found, comparison.ratio, index=worst)

    def _same(self, other: Signature) -> bool:
        """The same bug: everything but the operators, of which a variant may use fewer."""
        mine = self.signature
        if (mine.symptom, mine.kind, mine.message, mine.frame) != (
            other.symptom, other.kind, other.message, other.frame
        ):
            return False
        # A variant may settle whose fault it is, but not blur it.
        if other.side != mine.side != "unknown":
            return False
        return set(other.ops) <= {*mine.ops, *(SIMPLER[op] for op in mine.ops if op in SIMPLER)}

    # -- state on disk ----------------------------------------------------------------------------------------

    def _take(self, case: Case) -> None:
        self.best = case
        target = self.folder / "best.json"
        fresh = target.with_suffix(".tmp")
        fresh.write_bytes(codec.encode(case))
        os.replace(fresh, target)
        self.say(self.queries["warm"], self.best)

    def _check_budget(self) -> None:
        if self.max_queries is not None and self.queries["warm"] >= self.max_queries:
            raise BudgetSpent
        if self.max_seconds is not None and time.monotonic() - self.began >= self.max_seconds:
            raise BudgetSpent

    def _write(self, record: dict) -> None:
        with open(self._journal, "a") as file:
            file.write(json.dumps(record) + "\n")
            file.flush()
            os.fsync(file.fileno())

    def _read_journal(self) -> dict[str, Answer]:
        """Answers of an earlier, interrupted run; a torn last line is ignored."""
        answers: dict[str, Answer] = {}
        if self._journal.exists():
            for line in self._journal.read_text().splitlines():
                try:
                    record = json.loads(line)
                except ValueError:
                    continue
                if "end" in record:
                    answers[record["end"]] = codec.from_plain(record["answer"], Answer)
        return answers
