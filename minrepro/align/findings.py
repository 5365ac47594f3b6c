"""From judged seams to one row per unit: where the error was made, how large it is, whose fault it is.

The order of the questions is that of what would explain the rest: weights that differ, a draw that is not pinned,
another precision, another setting of the layer; then the framework, asked with our own spelling of the reference's
step; and what is left was made by the port's own code.
"""

from __future__ import annotations

import ast
import math
from pathlib import Path
from typing import Any, Mapping, Sequence

import msgspec

from minrepro.align import settings
from minrepro.align.draws import Draw, Draws, Loose
from minrepro.align.judging import EXPLODES, Judged, gross, hidden
from minrepro.align.loading import Entry
from minrepro.align.pairing import Module, Pairing
from minrepro.align.slicing import definitions
from minrepro.ir.divergence import Comparison

GUILTY = ("port", "setting", "weights", "draw", "policy", "unexplained")
"""Verdicts that say where a difference comes from, or that nobody knows."""
FLOATS = ("float16", "bfloat16", "float32", "float64")


class Row(msgspec.Struct):
    """One unit of the table.

    Attributes:
        unit, port: names on both sides.
        types: class on each side.
        shape, dtypes: of its worst or first output.
        made: largest absolute error made here, given right inputs and right parts.
        seen: largest absolute error of its outputs when the port runs by itself.
        ulp, ratio: of the error made here.
        verdict: a word that `language` has as ``verdict.WORD``.
        note: one sentence.
        lines: ``file:line`` on each side where the error is made; for the port, of all that ran since the seam before.
        calls: how often it was called.
        worst: the judgement behind the numbers of the row.
        first: the first judgement that is a divergence: what the port's code made wrong first stays wrong in the rest.
        rows: its rows that dominate a sum and lose digits.
        gradient: verdict on the gradients of its inputs and parameters, ``""`` if they were not compared.
        gradient_made: their largest absolute error.
        gradient_note: one sentence.
    """

    unit: str
    port: str
    types: tuple[str, str]
    shape: tuple[int, ...] = ()
    dtypes: tuple[str, str] = ("", "")
    made: float = 0.0
    seen: float | None = None
    ulp: float = 0.0
    ratio: float = 0.0
    verdict: str = "idle"
    note: str = ""
    lines: tuple[str, str] = ("", "")
    calls: int = 0
    worst: Judged | None = None
    first: Judged | None = None
    rows: tuple[str, ...] = ()
    gradient: str = ""
    gradient_made: float = 0.0
    gradient_note: str = ""


class Wrong(msgspec.Struct):
    """A side of a unit whose values differ.

    Attributes:
        maker: number of the unit that made them.
        gross: they are arranged or meant otherwise; see `judging.gross`.
        labels: which of them.
    """

    maker: int
    gross: bool
    labels: set[str]


class Apart(msgspec.Struct):
    """How a unit that is left to itself differs.

    Attributes:
        detail: the first difference.
        places: the port's lines that made it.
        parts: ``in`` and ``out``, where there is one.
        shaped: those of them where it is of shape, dtype or number.
    """

    detail: str
    places: str
    parts: set[str]
    shaped: set[str]


class Table:
    """Collects seams into rows.

    Args:
        pairing: the units.
        reference, candidate: path -> module of each side.

    Attributes:
        rows: one per unit.
        wrong: (unit, ``in`` or ``out``) that differ though they should not.
        apart: number of a unit that is left to itself -> how its values differ, in the order in which that shows.
        unclear: those of them of which nobody can say whether that is right, because something else is wrong.
        lost: those of them whose results nothing makes the right values of, though it does so for others of their class.
        callers: number of a unit -> of those that call it.
    """

    def __init__(self, pairing: Pairing, reference: Mapping[str, Module], candidate: Mapping[str, Module]):
        self.pairing, self.reference, self.candidate = pairing, reference, candidate
        self.rows = [
            Row(unit.reference, unit.candidate, (reference[unit.path].type, candidate[unit.candidate.partition("::")[0]].type))
            for unit in pairing.units
        ]
        self.wrong: dict[tuple[int, str], Wrong] = {}
        self.apart: dict[int, Apart] = {}
        self.unclear: set[int] = set()
        self.lost: set[int] = set()
        self.callers: dict[int, set[int]] = {}

    def add(self, found: Judged, seen: float | None, opened: bool = False) -> None:
        """Take a judged tensor: it belongs to the unit that made it; what is seen belongs to the unit itself."""
        told = found.comparison.divergence if found.comparison.verdict == "diverges" else None
        if found.part == "in" and found.maker >= 0:
            self.callers.setdefault(found.unit, set()).add(found.maker)
        # Who uses what a part of the port does not return shows it at the next seam; only of the whole everything is due.
        opened = opened or told is not None and told.symptom == "structure" and found.unit > 0
        if told is not None and opened:
            apart = self.apart.setdefault(found.unit, Apart(told.detail, _places(found), set(), set()))
            apart.parts.add(found.part)
            apart.shaped |= {found.part} if told.symptom != "value" else set()
        elif told is not None:
            before = self.wrong.get((found.unit, found.part))
            self.wrong[found.unit, found.part] = Wrong(
                found.maker, gross(found) or before is not None and before.gross,
                {found.label} | (before.labels if before is not None else set()))
        own = self.rows[found.unit]
        if found.part == "out":
            own.calls = max(own.calls, found.call + 1)
            own.rows = own.rows or found.rows
            if seen is not None:
                own.seen = max(own.seen or 0.0, seen)
            if not own.shape:
                own.shape, own.dtypes = found.shape, found.dtypes
        if found.maker < 0 or opened and told is not None:
            return
        row = self.rows[found.maker]
        verdict = found.comparison.verdict
        if row.verdict == "idle":
            row.verdict = "same"
        if _weight(found) > _weight(row.worst):
            row.worst, row.made, row.ulp = found, found.absolute, found.ulp
            row.ratio = found.comparison.ratio
            if found.part == "out":
                row.shape, row.dtypes = found.shape, found.dtypes
            if verdict == "arithmetic" and row.verdict == "same":
                row.verdict, row.note = "arithmetic", found.comparison.why
        if verdict == "diverges" and found.comparison.divergence is not None and row.first is None:
            row.verdict, row.note, row.first = "diverges", found.comparison.divergence.detail, found
            row.lines = (_place(found.lines.get("reference")), _places(found))

    def take_gradients(self, found: Sequence[tuple[int, str, Comparison, float]]) -> None:
        """Take the gradients of single calls; a unit whose part errs already is not to blame for it.

        With another interface what comes back to a unit is not the same on both sides.
        """
        for number, label, comparison, absolute in found:
            if number in self.apart:
                continue
            row = self.rows[number]
            row.gradient = row.gradient or "same"
            row.gradient_made = max(row.gradient_made, absolute)
            if comparison.verdict == "diverges" and comparison.divergence is not None:
                row.gradient = "diverges"
                row.gradient_note = f"gradient of {label}: {comparison.divergence.detail}"
        wrong = [row.unit for row in self.rows if row.gradient == "diverges"]
        for row in self.rows:
            if row.gradient == "diverges" and any(below(unit, row.unit) for unit in wrong):
                row.gradient, row.gradient_note = "passed on", ""


    def take_deaths(self, units: Mapping[str, str]) -> None:
        """Take the units of the port whose backward ends its process, and how."""
        for row in self.rows:
            if row.port in units:
                row.gradient, row.gradient_note = "diverges", f"its backward, alone: the port's process {units[row.port]}"


def below(unit: str, path: str) -> bool:
    """True if a unit is a part of another one, as far as their names tell."""
    return unit != path and unit.startswith(f"{path}." if path else "")


def _weight(found: Judged | None) -> tuple[int, float, float]:
    if found is None:
        return (-1, 0.0, 0.0)
    order = {"same": 0, "unresolved": 1, "arithmetic": 1, "diverges": 2}
    return (order.get(found.comparison.verdict, 1), found.comparison.ratio, found.absolute)


def _place(line: tuple[str, int] | None) -> str:
    return f"{line[0]}:{line[1]}" if line and line[0] else ""


def _places(found: Judged) -> str:
    """The candidate's lines between the seam before and this one, the innermost first, and where what they read was made."""
    spans = list(found.spans[::-1])
    spans += [(file, *lines) for file, first, last in found.spans for lines in definitions(file, first, last)]
    texts = [f"{file}:{first}" + (f"-{last}" if last > first else "") for file, first, last in spans]
    return ", ".join(dict.fromkeys(texts)) or _place(found.lines.get("candidate"))


class Evidence(msgspec.Struct):
    """What explains a divergence beside its values.

    Attributes:
        entries: the loaded state.
        draws: the random draws.
        settings: reference path -> differing settings.
        autocast: side -> contexts that it entered.
        failure: the event with which the port's forward raised, or None.
    """

    entries: list[Entry]
    draws: Draws
    settings: Mapping[str, list[str]]
    autocast: Mapping[str, list[dict[str, Any]]]
    failure: Mapping[str, Any] | None = None


def explain(table: Table, evidence: Evidence) -> None:
    """Give every diverging row its verdict and note, as far as no experiment is needed."""
    if evidence.failure is not None:
        _raised(table, evidence.failure)
    narrow = [row for row in table.rows if row.verdict == "diverges" and _narrow(row)]
    for number, row in enumerate(table.rows):
        path = row.unit.partition("::")[0]
        if row.verdict == "arithmetic" and number in evidence.draws.hidden[False]:
            row.verdict = "diverges"  # copies that draw by themselves measure nothing
        if row in narrow and any(_within(other, row) for other in narrow):
            row.verdict, row.note = "same", "it passes on the precision of what it calls"
        elif row.verdict == "diverges":
            _explain(table, number, row, path, evidence)
        elif row.verdict in ("same", "arithmetic") and row.worst is not None and (told := _set(table, number, path, evidence)):
            # Too small for the numbers, or only there in training: the constructor says it.
            row.verdict = "setting" if not hidden(row.worst) else "port"
            row.note = "; ".join(told)
            row.lines = _made(table, row)
        elif row.verdict in ("same", "arithmetic") and "::" not in row.unit and (told := _computed(evidence, path, row)):
            row.verdict, row.note, row.lines = "setting", told, _made(table, row)
        elif row.rows:
            row.note = f"ill-conditioned: {'; '.join(row.rows)}; compare rows by their relative error, the mean says nothing"
        elif row.worst is not None and row.worst.condition > EXPLODES**2 and row.verdict in ("same", "arithmetic"):
            row.note = f"ill-conditioned: an element moves by {row.worst.condition:.2g} times a relative change of its inputs"
    for number, told in table.apart.items():
        row = table.rows[number]
        if number in table.lost:
            row.verdict, row.lines = "port", (row.lines[0], told.places)
            row.note = f"it returns something else, from which the port does not come to the right value: {told.detail}"
        else:
            _apart(row, told.detail, told.places, number in table.unclear)


def _set(table: Table, number: int, path: str, evidence: Evidence) -> list[str]:
    """The settings of a unit that differ and that count: with another interface only what a forward need not show."""
    told = evidence.settings.get(path, [])
    return [one for one in told if one.startswith(settings.HIDDEN)] if number in table.apart else told


def _apart(row: Row, told: str, places: str, unclear: bool) -> None:
    """Say how a unit that is left to itself differs: that alone is no mistake."""
    fine = row.verdict in ("idle", "same", "arithmetic")
    if fine:
        row.verdict, row.lines = "interface", (row.lines[0], places)
        row.note = f"another interface: {told}; " + (
            f"whether that is right (at {places}) cannot be told while something else is wrong" if unclear
            else "what the port makes of it agrees")
    elif unclear:
        row.note += f" -- or what it is told is wrong, at {places}: {told}"
        row.lines = row.lines[0], ", ".join(filter(None, (row.lines[1], places)))
    else:
        row.note += f" (told in another way: {told})"


def _raised(table: Table, failure: Mapping[str, Any]) -> None:
    """Mark the innermost unit in which the port raised, or its process ended."""
    names = [row.port for row in table.rows]
    place = failure["stack"][-1][0] if failure["stack"] else ""
    if place in names:
        told, row = failure["blame"], table.rows[names.index(place)]
        row.verdict = "raises" if failure["kind"] == "raised" else "hangs" if failure["hang"] else "dies"
        row.lines = ("", f"{told['file']}:{told['line']}" if told["file"] else "")
        row.note = f"{told['error']}: {told['message'].splitlines()[0] if told['message'] else ''}"


def _explain(table: Table, number: int, row: Row, path: str, evidence: Evidence) -> None:
    found = row.worst
    assert found is not None
    blamed = [e for e in evidence.entries if e.blame and _belongs(e, path, row)]
    wrong = [e for e in blamed if e.blame != "port"]
    loose = [d for d in evidence.draws.loose.get("candidate", ()) if d.unit == number]
    never = [] if evidence.failure else evidence.draws.untaken("candidate")
    untaken = [d for d in never if d.stack and d.stack[-1][0] == number]
    policy, inside = _policy(row, evidence), evidence.draws.hidden
    if wrong:
        row.verdict, row.note = "weights", f"{wrong[0].blame}: {wrong[0].detail}"
    elif evidence.draws.injected and (told := _rated(loose, never)):
        row.verdict, row.note = "port", told
    elif loose and (untaken or not evidence.draws.injected):
        told = loose[0]
        row.verdict = "draw"
        row.note = f"the port draws {told.distribution} of shape {list(told.shape)} at {_place(told.line)} by itself"
    elif loose:
        told = loose[0]
        row.verdict = "port"
        row.note = f"the port draws {told.distribution} at {_place(told.line)} where the reference draws nothing"
    elif untaken:
        told = untaken[0]
        row.verdict = "draw"
        shape = list(told.value.shape)
        row.note = f"the reference draws {told.distribution} of shape {shape} at {_place(told.line)}, the port never does"
    elif number in inside[False]:
        both = "both sides draw" if number in inside[True] else "the reference draws"
        row.verdict, row.note = "draw", f"{both} inside a kernel of {_name(row)}, where no value can be taken or given"
    elif policy:
        row.verdict, row.note = "policy", policy
    elif "::" not in row.unit and (told := evidence.settings.get(path) or [e.detail for e in blamed]
                                       or settings.suspicions(*_modules(table, row))):
        row.verdict, row.note, row.lines = "port", "; ".join(told), _made(table, row)
    elif number in inside[True]:
        row.verdict, row.note = "port", f"the port draws inside a kernel of {_name(row)}, the reference draws nothing"
    elif is_layer(row):
        row.verdict = "unexplained"
    else:
        row.verdict = "port"
        row.note = f"{_where(row, row.first or found, table)}: {row.note}"


def _rated(loose: Sequence[Loose], never: Sequence[Draw]) -> str:
    """The sentence for a draw that only differs in its parameters: another rate is a setting, no draw without an answer."""
    for own in loose:
        for due in never:
            alike = own.distribution.partition("(")[0] == due.distribution.partition("(")[0] and own.shape == due.value.shape
            if alike and own.distribution != due.distribution:
                return (f"the reference draws {due.distribution} at {_place(due.line)}, the port {own.distribution} at "
                        f"{_place(own.line)}")
    return ""


def _name(row: Row) -> str:
    return row.unit.replace("::", ".") or "the root"


def _modules(table: Table, row: Row) -> tuple[Module, Module]:
    """The modules of a row on both sides."""
    return table.reference[row.unit.partition("::")[0]], table.candidate[row.port.partition("::")[0]]


def _made(table: Table, row: Row) -> tuple[str, str]:
    """Where the modules of a row were constructed: a setting is wrong there, not where the layer is called."""
    left, right = _modules(table, row)
    made = ", ".join(filter(None, (_place(right.made), _constructor(right))))
    return _place(left.made) or row.lines[0], made or row.lines[1]


def _constructor(module: Module) -> str:
    """The lines of the constructor of a user's class."""
    if module.source is None:
        return ""
    file, line = module.source
    for node in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef) and min([node.lineno, *(d.lineno for d in node.decorator_list)]) == line:
            for part in node.body:
                if isinstance(part, ast.FunctionDef) and part.name == "__init__":
                    return f"{file}:{part.lineno}-{part.end_lineno}"
    return ""


def _computed(evidence: Evidence, path: str, row: Row) -> str:
    """What is wrong about the buffers that this module computes."""
    return "; ".join(e.detail for e in evidence.entries if e.given == "computed" and _belongs(e, path, row))


def _belongs(entry: Entry, path: str, row: Row) -> bool:
    """An entry of this very module: its parts have rows of their own."""
    owners = [key.rpartition(".")[0] for key in (entry.source, entry.key) if key]
    places = (path, row.port.partition("::")[0])
    return any(owner == place for owner, place in zip(owners, places if entry.source else places[1:]))


def _policy(row: Row, evidence: Evidence) -> str:
    """The sentence for another precision: autocast on one side only, or dtypes that differ."""
    contexts = {side: found for side, found in evidence.autocast.items() if found}
    if len(contexts) == 1:
        (side, found), = contexts.items()
        told = found[0]
        return (f"only the {side} runs in an autocast context ({told['dtype']}), opened at {told['file']}:{told['line']}; "
                "compare with --precision float32")
    if _narrow(row):
        left, right = row.worst.dtypes
        return f"the reference computes in {left}, the port in {right}"
    return ""


def _narrow(row: Row) -> bool:
    """True if the two sides compute in different floating-point dtypes."""
    found = row.worst.comparison.divergence if row.worst else None
    if found is not None and found.symptom != "dtype":
        return False
    left, right = row.worst.dtypes if row.worst else ("", "")
    return left != right and left in FLOATS and right in FLOATS


def _within(inner: Row, outer: Row) -> bool:
    """True for a unit that another one calls, as far as their names tell."""
    return inner is not outer and (not outer.unit or inner.unit.startswith((f"{outer.unit}.", f"{outer.unit}::")))


def is_layer(row: Row) -> bool:
    """True for a unit that is one of the framework's own layers on both sides."""
    return "::" not in row.unit and all(".nn." in kind for kind in row.types)


def _where(row: Row, found: Judged, table: Table) -> str:
    if found.part == "in":
        other = table.rows[found.unit].port or "the root"
        return f"its own code gives {other.replace('::', '.')} a wrong {found.label or 'input'} at {row.lines[1]}"
    return f"its own code returns a wrong {found.label.removeprefix('the ')} ({row.lines[1]})"


def finite(value: float) -> float | None:
    """A number that JSON has, or None."""
    return value if math.isfinite(value) else None
