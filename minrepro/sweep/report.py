"""A sweep in numbers: coverage by operator or family, and the distinct divergences with their smallest cases."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from rich.table import Table

from minrepro import ops
from minrepro.ir.divergence import SYMPTOMS
from minrepro.ops.gradient import PREFIX
from minrepro.shrink.order import key
from minrepro.sweep.backward import MODE, Pinned
from minrepro.sweep.journal import Record
from minrepro.sweep.plan import FORWARD, MODES, OWN, Item, case_of

LEGAL = ("convention", "policy")
VERDICTS = ("same", "arithmetic", *LEGAL, "shared", "refused", "none", "unsupported", "unresolved")
"""``none``: the reference has no gradient there. What is `LEGAL` differs, and is documented or set: nobody's bug."""
COLUMNS = (*VERDICTS, *SYMPTOMS)


class Group(msgspec.Struct, frozen=True):
    """One distinct divergence.

    Attributes:
        op: operator.
        symptom: see `ir.divergence.SYMPTOMS`.
        side: who is wrong.
        message: exception class and normalised text, or the signal, or ``""``.
        items: every case that shows it, the smallest first.
        detail: the judgement of the smallest one as a sentence.
        dtypes, layouts: in which it shows.
        mode: ``forward``, or ``backward`` where it is the operator's gradient.
        pinned: what the gradient step of the smallest case looks like.
    """

    op: str
    symptom: str
    side: str
    message: str
    items: tuple[Item, ...]
    detail: str
    dtypes: tuple[str, ...]
    layouts: tuple[str, ...]
    mode: str = FORWARD
    pinned: Pinned | None = None

    @property
    def step(self) -> str:
        """The operator, or the name that its gradient has as one."""
        return self.op if self.mode == FORWARD else PREFIX + self.op

    @property
    def digest(self) -> str:
        """Short name of what makes it this group."""
        identity = "\n".join((self.step, self.symptom, self.side, self.message))
        return hashlib.sha256(identity.encode()).hexdigest()[:6]

    @property
    def slug(self) -> str:
        """A folder name, without the digest that makes it unique."""
        words = f"{self.step}-{self.symptom}"
        return "".join(c if c.isalnum() else "-" for c in words.lower()).strip("-")


class Known(msgspec.Struct, frozen=True):
    """One documented difference or setting that showed.

    Attributes:
        cause: ``convention: ...`` or ``policy: ...``.
        ops: operators that it showed in.
        cases: in how many cases.
        sentence: what each side does.
        change: the line to change in the user's code.
        source: where it is documented.
    """

    cause: str
    ops: tuple[str, ...]
    cases: int
    sentence: str
    change: str
    source: str


def column(record: Record) -> str:
    """The verdict, or the symptom of a divergence that is not legal."""
    if record.legal is not None:
        return record.legal.cause.split(":")[0]
    found = record.comparison.divergence
    return found.symptom if record.comparison.verdict == "diverges" and found is not None else record.comparison.verdict


def coverage(records: Iterable[Record], by_op: bool) -> dict[str, Counter[str]]:
    """Operator, or family of operators -> how many cases have which verdict or symptom."""
    family = ops.families()
    rows: dict[str, Counter[str]] = {}
    for record in records:
        op = record.item.op
        rows.setdefault(op if by_op else family[op], Counter())[column(record)] += 1
    return dict(sorted(rows.items()))


def groups(records: Iterable[Record]) -> list[Group]:
    """The distinct divergences that are not legal, by mode and operator."""
    found: dict[tuple[str, ...], list[Record]] = {}
    for record in records:
        divergence = record.comparison.divergence
        if record.comparison.verdict == "diverges" and divergence is not None and record.legal is None:
            who = record.signature
            message = f"{who.kind}: {who.message}".strip(": ") if who is not None else ""
            # Forward comes first, as in `MODES`.
            which = str(MODES.index(record.item.mode))
            found.setdefault((which, record.item.op, divergence.symptom, divergence.side, message), []).append(record)
    return [_group(*identity[1:], members) for identity, members in sorted(found.items())]


def _group(op: str, symptom: str, side: str, message: str, members: list[Record]) -> Group:
    # Nothing along an axis is a trigger of its own: where something shows the same, it says more. Building a case
    # costs more than reading its size; among equals the order of cases decides.
    full = [record for record in members if record.size and record.item.layout != "empty"] or members
    least = min(record.size for record in full)
    smallest = min(
        (record for record in full if record.size == least),
        key=lambda record: key(case_of(record.item, "torch", "torch", record.pinned)),
    )
    rest = sorted((record for record in members if record is not smallest), key=lambda record: record.size)
    divergence = smallest.comparison.divergence
    assert divergence is not None
    return Group(
        op, symptom, side, message, (smallest.item, *(record.item for record in rest)), divergence.detail,
        tuple(sorted({record.item.dtype for record in members})), tuple(sorted({r.item.layout for r in members})),
        smallest.item.mode, smallest.pinned,
    )


def known(records: Iterable[Record]) -> list[Known]:
    """The documented differences and settings that showed."""
    found: dict[str, list[Record]] = {}
    for record in records:
        if record.legal is not None:
            found.setdefault(record.legal.cause, []).append(record)
    return [_known(cause, members) for cause, members in sorted(found.items())]


def _known(cause: str, members: list[Record]) -> Known:
    told = members[0].legal
    assert told is not None
    where = tuple(sorted({record.item.op for record in members}))
    return Known(cause, where, len(members), told.sentence, told.change, told.source)


def as_json(records: list[Record], found: list[Group], about: Mapping[str, Any]) -> dict[str, Any]:
    """The whole report for machines."""
    return {
        **about,
        "cases": len(records),
        **_counted(of_mode(records, FORWARD)),
        "backward": _counted(of_mode(records, MODE)),
        "known": [msgspec.to_builtins(one) for one in known(records)],
        "divergences": [
            {
                "op": group.op, "mode": group.mode, "symptom": group.symptom, "side": group.side, "message": group.message,
                "cases": len(group.items), "dtypes": list(group.dtypes), "layouts": list(group.layouts),
                "smallest": msgspec.to_builtins(group.items[0]), "detail": group.detail,
            }
            for group in found
        ],
    }


def _counted(records: list[Record]) -> dict[str, Any]:
    return {
        "verdicts": dict(Counter(column(record) for record in records)),
        "operators": {op: dict(row) for op, row in coverage(records, True).items()},
        "families": {family: dict(row) for family, row in coverage(records, False).items()},
    }


def of_mode(records: Iterable[Record], mode: str) -> list[Record]:
    """The answers of one mode."""
    return [record for record in records if record.item.mode == mode]


def as_table(records: list[Record], by_op: bool, mode: str = FORWARD) -> Table:
    """The coverage of one mode for people: only columns that have a number in them."""
    records = of_mode(records, mode)
    rows = coverage(records, by_op)
    total: Counter[str] = sum(rows.values(), Counter())
    shown = [name for name in COLUMNS if total[name]]
    table = Table(box=None, pad_edge=False)
    table.add_column(("operator" if by_op else "family") + (", backward" if mode == MODE else ""))
    for name in ("cases", *shown):
        table.add_column(name, justify="right")
    for label, row in rows.items():
        table.add_row(label, str(row.total()), *(str(row[name] or "") for name in shown))
    table.add_section()
    table.add_row("total", str(total.total()), *(str(total[name]) for name in shown))
    return table


def line(group: Group) -> str:
    """A divergence in one line."""
    smallest = group.items[0]
    where = f"{smallest.dtype} {smallest.layout}".strip() if smallest.layout != OWN else smallest.dtype
    return f"{group.step}: {group.symptom} on the {group.side} side ({len(group.items)} cases, {where}): {group.detail}"


def known_line(one: Known) -> str:
    """A documented difference or a setting in one line, with the line to change and the source."""
    return (
        f"{one.cause} in {', '.join(one.ops)} ({one.cases} cases): {one.sentence}; change: {one.change} "
        f"(source: {one.source})"
    )
