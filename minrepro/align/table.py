"""The table that reviewers of alignment work ask for: as text, as Markdown, as JSON; in English or Chinese."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Sequence

from rich.table import Table as RichTable

from minrepro.align import Aligned
from minrepro.align.findings import Row, finite
from minrepro.align.language import Words
from minrepro.align.loading import Entry, counts
from minrepro.align.training import Compared
from minrepro.ir import codec

STANDARD = "notes/verdict.md"
"""Where the standard that is applied is written down."""
COLUMNS = ("module", "types", "shape", "dtype", "made", "seen", "ulp", "ratio", "verdict")
GRAVE = {"port", "weights", "framework", "unexplained", "raises", "dies", "hangs"}
"""Verdicts that are shown in red."""


def ordered(rows: Sequence[Row], worst_first: bool) -> list[Row]:
    """The rows that say something: what was never called on either side is left away unless it has weights."""
    shown = [row for row in rows if row.calls or row.verdict != "idle"]
    if not worst_first:
        return shown
    return sorted(shown, key=lambda row: (-_rank(row), -row.ratio))


def _rank(row: Row) -> int:
    order = ("idle", "same", "arithmetic", "interface", "setting", "policy", "draw", "unexplained", "weights", "port",
             "framework")
    return order.index(row.verdict) if row.verdict in order else len(order)


def cells(row: Row, words: Words) -> tuple[str, ...]:
    """One row as texts, in the order of `COLUMNS`."""
    port = "" if row.port == row.unit else f" = {_name(row.port, words)}"
    left, right = (kind.replace(".nn.", ".") for kind in row.types)
    kinds = left if left == right else f"{left} / {right}"
    dtypes = row.dtypes[0] if row.dtypes[0] == row.dtypes[1] else " / ".join(row.dtypes)
    return (
        _name(row.unit, words) + port, kinds, "x".join(map(str, row.shape)) if row.calls else "", dtypes,
        _number(row.made), "" if row.seen is None else _number(row.seen), _number(row.ulp), _number(row.ratio),
        words.verdict(row.verdict), _gradient(row, words),
    )


def _gradient(row: Row, words: Words) -> str:
    if not row.gradient:
        return ""
    kind = {"diverges": "unexplained", "passed on": "same"}.get(row.gradient, row.gradient)
    return _number(row.gradient_made) if row.gradient in ("same", "passed on") else words.verdict(kind)


def _name(unit: str, words: Words) -> str:
    path, _, method = unit.partition("::")
    path = path or words("root")
    return f"{path}.{method}()" if method else path


def _number(value: float) -> str:
    return "0" if value == 0 else f"{value:.2g}"


def notes(rows: Sequence[Row], words: Words) -> dict[str, list[str]]:
    """Note -> the units that it is about, in their order."""
    found: dict[str, list[str]] = {}
    for row in rows:
        for note in filter(None, (row.note, row.gradient_note)):
            found.setdefault(words.said(note), []).append(_name(row.unit, words))
    return found


def screen(rows: Sequence[Row], words: Words) -> RichTable:
    """The table for a terminal."""
    table = RichTable(box=None, pad_edge=False)
    columns = columns_of(rows)
    for name in columns:
        right = name in ("made", "seen", "ulp", "ratio", "gradient")
        table.add_column(words(name), justify="right" if right else "left", overflow="fold")
    for row in rows:
        style = "red" if {row.verdict, row.gradient} & GRAVE else None
        table.add_row(*cells(row, words)[: len(columns)], style=style)
    return table


def columns_of(rows: Sequence[Row]) -> tuple[str, ...]:
    """The columns; gradients have one where they were compared."""
    return (*COLUMNS, "gradient") if any(row.gradient for row in rows) else COLUMNS


def trained(found: Aligned, words: Words) -> list[str]:
    """What whole backward passes and training steps said, a line each."""
    lines = []
    groups: dict[tuple[int, str], list[Compared]] = {}
    for item in found.trained:
        groups.setdefault((item.step, item.what), []).append(item)
    for (step, what), items in groups.items():
        wrong = [item for item in items if item.comparison.verdict == "diverges"]
        worst = max(items, key=lambda item: (item in wrong, item.comparison.ratio, item.absolute))
        state = words("differ", wrong=len(wrong), count=len(items)) if wrong else words("agree", count=len(items))
        detail = words("worst", size=f"{worst.absolute:.2g}")
        if wrong and worst.comparison.divergence:
            detail = words.said(worst.comparison.divergence.detail)
        title = words("step.gradient") if what == "gradient" else words("step.update", name=what)
        lines.append(words("step", step=step, what=title, state=state, key=worst.key, detail=detail))
    return lines


def markdown(rows: Sequence[Row], found: Aligned, words: Words, about: dict[str, Any]) -> str:
    """The table for a pull request, with the standard and its source."""
    columns = columns_of(rows)
    lines = [
        f"# {words('title')}", "",
        f"- {words('reference')}: {about['reference']}", f"- {words('candidate')}: {about['candidate']}",
        f"- {words('verdict')}: **{words.outcome(about['verdict'])}**",
        f"- {words('standard')}: {words('standard_text')} ({STANDARD})", "",
        "| " + " | ".join(words(name) for name in columns) + " |", "|" + "---|" * len(columns),
    ]
    shown = [cells(row, words)[: len(columns)] for row in rows]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in shown]
    lines += ["", *(f"- {line}" for line in trained(found, words))] if found.trained else []
    told = [f"- {', '.join(units)}: {note}" for note, units in notes(rows, words).items()]
    if told:
        lines += ["", f"## {words('notes')}", "", *told]
    wrong = [one for one in found.entries if one.blame]
    if wrong:
        lines += ["", f"## {words('state')}", ""]
        lines += ["- " + entry(one, words).partition(": ")[2] for one in wrong]
    lines += leftovers(found, words, len(found.pairing.reference) + len(found.pairing.candidate))
    return "\n".join(lines) + "\n"


def entry(one: Entry, words: Words) -> str:
    """An entry of the state that somebody is to blame for."""
    return f"{words('state')}: {one.key or one.source}: {words(f'blame.{one.blame}')}: {words.said(one.detail)}"


def leftovers(found: Aligned, words: Words, most: int = 6) -> list[str]:
    """The modules without a partner, at most so many of each side."""
    lines = []
    for name, paths in (("unpaired_reference", found.pairing.reference), ("unpaired_candidate", found.pairing.candidate)):
        more = f" (+ {len(paths) - most})" if len(paths) > most else ""
        if paths:
            lines += ["", f"{words(name)}: {', '.join(paths[:most])}{more}"]
    return lines


def report(found: Aligned, about: dict[str, Any]) -> dict[str, Any]:
    """Everything as JSON."""
    rows = [
        {
            "unit": row.unit, "port": row.port, "types": list(row.types), "shape": list(row.shape),
            "dtypes": list(row.dtypes), "made_here": finite(row.made),
            "seen_here": None if row.seen is None else finite(row.seen), "ulp": finite(row.ulp),
            "ratio": finite(row.ratio), "verdict": row.verdict, "note": row.note,
            "lines": {"reference": row.lines[0], "candidate": row.lines[1]}, "calls": row.calls,
            "gradient": {"verdict": row.gradient, "made_here": finite(row.gradient_made), "note": row.gradient_note},
        }
        for row in found.rows
    ]
    draws = [
        {"distribution": d.distribution, "shape": list(d.value.shape), "line": f"{d.line[0]}:{d.line[1]}",
         "taken": "candidate" in d.takers}
        for d in found.draws.known
    ]
    loose = [
        {"distribution": d.distribution, "shape": list(d.shape), "line": f"{d.line[0]}:{d.line[1]}"}
        for d in found.draws.loose.get("candidate", ())
    ]
    return {
        **about, "rows": rows, "state": {"counts": counts(found.entries), "entries": codec.plain(found.entries)},
        "draws": draws, "unmatched_draws": loose, "autocast": found.autocast,
        "unpaired": {"reference": list(found.pairing.reference), "candidate": list(found.pairing.candidate)},
        "pairs": {unit.reference: {"port": unit.candidate, "how": unit.how} for unit in found.pairing.units},
        "notes": found.notes, "compared": found.seams, "failure": found.failure,
        "training": [
            {"step": t.step, "what": t.what, "key": t.key, "verdict": t.comparison.verdict, "absolute": finite(t.absolute),
             "ratio": finite(t.comparison.ratio)} for t in found.trained
        ],
        "scripts": [
            {"path": str(g.path) if g.path else None, "lines": g.lines, "summary": g.summary, "verified": g.verified,
             "queries": g.queries, "why": g.why} for g in found.scripts
        ],
        "call": codec.plain(found.call) if found.call else None,
    }


def write(folder: Path, found: Aligned, result: dict[str, Any], words: Words) -> None:
    """Write ``align.md`` into the run folder."""
    rows = ordered(found.rows, worst_first=False)
    (folder / "align.md").write_text(markdown(rows, found, words, result), encoding="utf-8")
