"""The interestingness test: run a variant on both sides, compare its signature, remember the answer.

Five answers, and only the first is accepted: ``interesting`` (the same bug), ``clean``, ``slipped`` (another bug: kept
aside as a second finding), ``invalid`` (the reference refuses the variant) or ``unresolved`` (out of time, no
spelling). A variant that the reference refuses costs a probe, not a query.

The start is run a few times. If it does not show its bug every time, no single run decides any more: the noise is taken
out if that can be done (one thread, memory filled with a known byte), and else every question is repeated until a
sequential test has its answer (`shrink.sequential`).

Every answer goes to a journal before it is used, so a killed run resumes with no query asked twice.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path
from typing import Callable, Iterator, Sequence

import msgspec

from minrepro.compare.pair import Pair
from minrepro.compare.verdict import Question, bound, judge
from minrepro.errors import InternalError
from minrepro.ir import codec
from minrepro.ir.case import Case
from minrepro.ir.divergence import Comparison
from minrepro.ir.outcome import Completed, Crashed, Outcome, Raised, Unspelled
from minrepro.ir.reduction import Rate
from minrepro.ir.signature import BANDS, Signature, normalise
from minrepro.shrink.incoming import Fitter
from minrepro.shrink.order import key
from minrepro.shrink.sequential import CHANCE, KEPT, enough, sequence
from minrepro.shrink.siblings import SIMPLER

LOOKS = 3
"""Runs of the start that have to agree before one run decides (design note on reduction, section 10)."""
SEEN, MOST = 8, 200
"""A rate is believed when the bug was seen that often, to about a third of it, or at that many runs."""
DOUBT, CERTAIN = 1e-3, 1e-6
"""Chance of taking luck for the end of all noise; chance of not meeting a bug again that is there."""
FILL = 0x5A
"""Fresh memory filled with its complement is neither zero nor near what is due, in any dtype."""

Evidence = tuple[Comparison, Outcome, Outcome]
"""A judgement, and what reference and candidate did."""


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


def identity(case: Case, comparison: Comparison, reference: Outcome, candidate: Outcome) -> Signature:
    """The signature of a judgement that diverges."""
    found = signature_of(case, comparison, candidate, reference)
    if found is None:
        raise InternalError(f"a divergence without a signature: {comparison}")
    return found


def band(ratio: float, elements: int) -> int:
    """Which band of severity a ratio is in: 0 near the bound, 2 far beyond it."""
    times = ratio / bound(elements)
    return sum(times > edge for edge in BANDS)


def calmer(case: Case) -> Iterator[tuple[str, Case]]:
    """The case with one source of noise less; the seed is pinned in every case."""
    if case.threads > 1:
        yield "one thread", msgspec.structs.replace(case, threads=1)
    if not case.fill:
        yield "fresh memory filled with a known byte", msgspec.structs.replace(case, fill=FILL)


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

    Attributes:
        rate: how often the start shows its bug; None if one run decides.
        calm: what took the noise out, or ``""``.
        evidence: what the case at the end showed.
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
        self.slipped: dict[Signature, tuple[Signature, Case]] = {}
        self.level = "start"
        self.band0 = 0
        self.worst: tuple[int, ...] = ()
        self.due = False
        self.rate: Rate | None = None
        self.calm = ""
        self.evidence: Evidence | None = None
        self._chance = CHANCE
        self._fitter = Fitter(lambda case: pair.run(case, pair.reference))
        self._answers: dict[str, Answer] = {}
        self._journal = folder / "journal.jsonl"
        self._resumed: dict[str, Answer] = {}
        self._observed: dict = {}
        self._read_journal()

    # -- how often the bug shows ------------------------------------------------------------------------------

    def observe(self, first: Answer | None = None) -> None:
        """Run the start a few times: fixes the band, and tells whether one run decides.

        Args:
            first: what the start showed when it was found; it stands for one of the runs.
        """
        if self._observed:
            self._recall()
            return
        self.level = "start"
        looks = [first] if first is not None else []
        looks += [look for _, look in zip(range(LOOKS - len(looks)), self._looks(self.start))]
        if all(look.interest == "interesting" for look in looks):
            self._fix(looks)
        else:
            self.distrust()

    def distrust(self) -> None:
        """Begin anew, knowing that one run of a case does not say what the next one does.

        Raises:
            InternalError: if the start does not show its bug any more.
        """
        self.level = "start"
        self.slipped.clear()
        self.rate, looks = self._measure(self.start)
        if not self.rate.matches:
            raise InternalError(f"the bug was seen before, and in none of {self.rate.runs} further runs of the same case")
        # Where every run showed it, a variant cannot be seen to be calmer.
        for what, variant in calmer(self.start) if self.rate.share < 1.0 else ():
            runs = max(LOOKS, enough(max(0.1, 1.0 - self.rate.share), DOUBT))
            quiet: list[Answer] = []
            for look in self._looks(variant):
                quiet.append(look)
                if look.interest != "interesting" or len(quiet) == runs:
                    break
            if quiet[-1].interest == "interesting":
                self.start, self.calm, self.rate, looks = variant, what, None, quiet
                break
        self._fix(looks)
        self._answers.clear()
        self._take(self.start)
        rate = [self.rate.matches, self.rate.runs] if self.rate is not None else None
        noted = {"start": _name(self.start), "rate": rate, "band": self.band0, "worst": list(self.worst)}
        self._write({"observed": noted})

    def measure(self) -> Rate | None:
        """How often the best case shows its bug; None if it does every time."""
        return None if self.rate is None else self._measure(self.best)[0]

    def witness(self) -> Evidence | None:
        """The best case shows its bug once more, with everything that is to be known about it; None if it does not.

        Where one run decides it has to show it twice: chance may have let it in.
        """
        if self.rate is None and self._see(self.best).interest != "interesting":
            return None
        for _ in range(1 if self.rate is None else enough(KEPT * self.rate.share, CERTAIN)):
            found = self.pair.compare(self.best)
            self.queries["warm"] += 1
            if self.weigh(self.best, *found).interest == "interesting":
                return found
        return None

    def _measure(self, case: Case) -> tuple[Rate, list[Answer]]:
        looks: list[Answer] = []
        matches = 0
        for look in self._looks(case):
            looks.append(look)
            matches += look.interest == "interesting"
            if matches == SEEN or len(looks) == MOST:
                break
        return Rate(matches, len(looks)), looks

    def _fix(self, looks: Sequence[Answer]) -> None:
        """Take the band and the worst element from what the start showed."""
        shown = [look for look in looks if look.interest == "interesting"]
        self.worst = shown[0].index
        elements = max(1, self.start.elements)
        self.band0 = min(band(look.ratio, elements) for look in shown)

    def _recall(self) -> None:
        """What an earlier, interrupted run found out about the start."""
        noted = self._observed
        self.rate = Rate(*noted["rate"]) if noted["rate"] is not None else None
        self.band0, self.worst = noted["band"], tuple(noted["worst"])
        for what, variant in calmer(self.start):
            if _name(variant) == noted["start"]:
                self.start = self.best = variant
                self.calm = what
        self.level = "start"
        self._ready(self.start)

    # -- asking -----------------------------------------------------------------------------------------------

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
        name = _name(case) + ("" if self.rate is None else " repeated")
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
            bucket = msgspec.structs.replace(answer.signature, ops=())
            known = self.slipped.get(bucket)
            if known is None or key(case) < key(known[1]):
                self.slipped[bucket] = answer.signature, case
        self.say(self.queries["warm"], self.best)
        return answer

    def refused(self, case: Case) -> bool:
        """True if a variant was asked before and the reference refused it."""
        name = _name(self._fitter.fit(case)) + ("" if self.rate is None else " repeated")
        known = self._answers.get(name)
        return known is not None and known.interest == "invalid"

    def _evaluate(self, case: Case) -> Answer:
        return self._see(case) if self.rate is None else self._repeated(case, self.rate)

    def _see(self, case: Case) -> Answer:
        return next(self._looks(case))

    def _repeated(self, case: Case, start: Rate) -> Answer:
        """Run a variant until the sequential test is decided, and until what it takes is not a rarer bug."""
        test = sequence(start, self._chance)
        shown, other = None, Answer("clean")
        for answer in self._looks(case):
            if answer.interest == "invalid":
                return answer
            if answer.interest == "interesting":
                shown = answer
            else:
                other = answer
            test.add(answer.interest == "interesting")
            rare = test.rate.share < KEPT * start.share
            if test.decision is False or test.decision and (not rare or test.runs * start.share >= SEEN):
                break
            self._check_budget()
        if test.decision and shown is not None:
            return Answer("clean", why=f"it shows only {test.rate}") if rare else shown
        self._chance = self._chance + test.rate
        if test.matches:
            return Answer("clean", why=f"it shows only {test.rate}")
        return msgspec.structs.replace(other, why=f"{other.why}, in {test.runs} runs")

    def _looks(self, case: Case) -> Iterator[Answer]:
        """Run a variant again and again; what the reference did is kept, unless it is the side on trial."""
        ready, right = self._ready(case)
        while True:
            yield ready if isinstance(ready, Answer) else self._look(case, *ready, right)
            if self.signature.side != "candidate":
                ready, right = self._ready(case)
            else:
                right = None

    def _ready(self, case: Case) -> tuple[Answer | tuple[Outcome, Question], Outcome | None]:
        """The reference's part of an answer, which may be all of it, and what the candidate did beside it."""
        why = case.lint()
        if why is not None:
            return Answer("invalid", why=why), None
        left, right = self.pair.both(case)
        return self._prepared(case, left), right

    def _prepared(self, case: Case, left: Outcome) -> Answer | tuple[Outcome, Question]:
        self.queries["probes"] += 1
        if isinstance(left, Unspelled):
            return Answer("unresolved", why=left.why)
        refusing = not isinstance(left, Completed)
        if self.level == "start":
            self.due = refusing or self.signature.symptom == "accepted" or self.signature.side == "reference"
        if refusing and not self.due:
            return Answer("invalid", why="the reference refuses it")
        # Whether a precision setting explains the error does not change what the bug is, and costs several runs.
        return left, msgspec.structs.replace(self.pair.question(case), rounded=lambda to: ())

    def _look(self, case: Case, left: Outcome, question: Question, right: Outcome | None) -> Answer:
        right = right if right is not None else self.pair.run(case, self.pair.candidate)
        self.queries["warm"] += 1
        self.queries[self.level] = self.queries.get(self.level, 0) + 1
        return self.weigh(case, judge(question, left, right), left, right)

    def weigh(self, case: Case, comparison: Comparison, left: Outcome, right: Outcome) -> Answer:
        """What a judgement means for the search: the same bug, another one, or none."""
        if comparison.verdict in ("same", "arithmetic", "shared"):
            return Answer("clean", None, comparison.ratio, "both sides agree")
        found = signature_of(case, comparison, right, left)
        if found is None:
            return Answer("unresolved", why=comparison.why)
        if not self._same(found) or len(case.graph.nodes) == 1 < len(self.start.graph.nodes):
            # Where steps are wrong together none is wrong alone, so one that is has another bug.
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

    def _read_journal(self) -> None:
        """What an earlier, interrupted run found out; a torn last line is ignored."""
        lines = self._journal.read_text().splitlines() if self._journal.exists() else []
        for line in lines:
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if "end" in record:
                self._resumed[record["end"]] = codec.from_plain(record["answer"], Answer)
            self._observed = record.get("observed", self._observed)
