"""Results of the later stages: diagnosis, reduction, finding, repro, verification."""

from __future__ import annotations

from typing import Mapping

import msgspec

from minrepro.ir.case import Case
from minrepro.ir.divergence import Divergence
from minrepro.ir.outcome import Outcome
from minrepro.ir.signature import Signature
from minrepro.ir.tensor import Tensor


class Probe(msgspec.Struct, frozen=True):
    """An experiment that a cause predicts: what was tried, what the cause says, what happened."""

    experiment: str
    predicted: str
    observed: str
    confirmed: bool


class Diagnosis(msgspec.Struct, frozen=True):
    """Why, and whose fault.

    Attributes:
        cause: short name of the rule that was confirmed, ``convention: ...``, or ``unexplained``.
        side: ``candidate``, ``reference``, ``both``, ``unknown``, or ``neither`` for a convention.
        sentence: one sentence for the report.
        probes: the evidence.
        ruled_out: causes whose probes failed.
        change: for a convention, the line to change in the user's code.
        source: for a convention, where it is documented.
    """

    cause: str
    side: str
    sentence: str
    probes: tuple[Probe, ...] = ()
    ruled_out: tuple[str, ...] = ()
    change: str = ""
    source: str = ""


class Rate(msgspec.Struct, frozen=True):
    """How often something shows."""

    matches: int
    runs: int

    @property
    def share(self) -> float:
        """As a fraction of all runs."""
        return self.matches / self.runs

    @property
    def percent(self) -> str:
        """The same for people, in as many digits as it is known."""
        return f"{100.0 * self.share:.0f}" if self.share >= 0.1 else f"{100.0 * self.share:.1g}"

    def __add__(self, other: Rate) -> Rate:
        return Rate(self.matches + other.matches, self.runs + other.runs)

    def __str__(self) -> str:
        return f"in about {self.percent} % of runs ({self.matches} of {self.runs})"


class Needed(msgspec.Struct, frozen=True):
    """One line of the certificate: what was made simpler, and why that variant was not accepted."""

    change: str
    result: str


class Reduction(msgspec.Struct, frozen=True):
    """The end of the search.

    Attributes:
        case: the smallest case with the same signature.
        signature: what was kept.
        queries: counts, ``warm`` and ``cold`` and one per pass.
        certificate: each remaining atom, shown to be needed.
        slipped: other signatures met on the way, with their smallest case.
        complete: False if the budget ended first.
        rate: how often the case shows the bug; None if it does every time.
    """

    case: Case
    signature: Signature
    queries: Mapping[str, int]
    certificate: tuple[Needed, ...] = ()
    slipped: tuple[tuple[Signature, Case], ...] = ()
    complete: bool = True
    rate: Rate | None = None


class Finding(msgspec.Struct, frozen=True):
    """Everything that a script is made from.

    Attributes:
        case: the case to print.
        side: whose framework the script uses: ``candidate`` or ``reference``.
        divergence: what is wrong.
        expected: value name -> expected tensor; empty if an exception is due.
        why: where the expectation comes from, one sentence (``float64 NumPy``, ``bits of the source``).
        bound: largest legal absolute difference per output (0 where bit equality is due).
        outcome: what the wrong side did.
        signature: identity of the bug.
        diagnosis: cause and side.
        environment: package -> version on the wrong side.
        replay: name of the historical bug that is replayed, or ``""``.
        model: what the user called the model.
        site: module path, operator and source line in the user's model.
        rate: how often the case shows the bug; None if it does every time.
    """

    case: Case
    side: str
    divergence: Divergence
    expected: Mapping[str, Tensor]
    why: str
    bound: Mapping[str, float]
    outcome: Outcome
    signature: Signature
    diagnosis: Diagnosis
    environment: Mapping[str, str]
    replay: str = ""
    model: str = ""
    site: str = ""
    rate: Rate | None = None


class Repro(msgspec.Struct, frozen=True):
    """A script on disk, and the issue text that goes with it."""

    script: str
    issue: str
    lines: int
    sha256: str
    text: str


class Verified(msgspec.Struct, frozen=True):
    """What happened when the script ran alone.

    Attributes:
        runs: fresh processes started.
        reproduced: how many ended with status 1 and printed the same divergence.
        statuses: every exit status, in order.
        without_replay: exit status without the replay (must be 0), or None if there is no replay.
        environment: package -> version of the interpreter used.
        output: what the last run printed.
        accepted: for a bug that shows only now and then: whether a sequential test found that the script shows it.
    """

    runs: int
    reproduced: int
    statuses: tuple[int, ...]
    without_replay: int | None = None
    environment: Mapping[str, str] = {}
    output: str = ""
    accepted: bool = False

    @property
    def ok(self) -> bool:
        """True if the script shows the bug, every time or as often as is due, and only under the replay if any."""
        shown = self.runs > 0 and self.reproduced == self.runs or self.accepted
        return shown and self.without_replay in (None, 0)

    @property
    def flaky(self) -> bool:
        """True if some runs show the bug and others do not."""
        return 0 < self.reproduced < self.runs
