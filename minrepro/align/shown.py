"""What stands around the table on a terminal, line by line, in the language that was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Iterator, Sequence

from rich.cells import cell_len

from minrepro.align import Aligned, table
from minrepro.align.calls import Found
from minrepro.align.findings import Row
from minrepro.align.language import Words

MOST = 8
"""Entries of the state that are shown."""


def below(rows: Sequence[Row], found: Aligned, words: Words, folder: Path) -> Iterator[str]:
    """The lines below the table."""
    yield from table.trained(found, words)
    for note, units in table.notes(rows, words).items():
        more = " " + words("more", count=len(units) - 1) if len(units) > 1 else ""
        yield f"\n{units[0]}{more}: {note}"
    wrong = [entry for entry in found.entries if entry.blame]
    yield from (table.entry(entry, words) for entry in wrong[:MOST])
    if len(wrong) > MOST:
        yield words("more_entries", count=len(wrong), total=len(found.entries))
    yield from filter(None, table.leftovers(found, words))
    if found.failure is not None:
        yield from _failure(found, rows, words)
    if found.call is not None:
        yield from _call(found.call, words)
    yield from map(words.said, found.notes)
    for glue in found.scripts:
        script = f"{glue.path} {words('lines', count=glue.lines)}: {words.said(glue.summary)}"
        yield _labelled("script", script if glue.verified else words("none", why=words.said(glue.why)), words)
    if found.cases:
        yield words("reduce", command=f"minrepro shrink --case {folder / 'case.json'}")


def closing(result: dict[str, Any], words: Words, folder: Path) -> tuple[str, str, str]:
    """The last lines: verdict, standard, folder."""
    verdict = "\n" + _labelled("verdict", words.outcome(result["verdict"]), words)
    standard = _labelled("standard", f"{words('standard_text')} ({table.STANDARD})", words)
    return verdict, standard, _labelled("folder", str(folder), words)


def _labelled(name: str, text: str, words: Words) -> str:
    label = words(name)
    return f"{label}{' ' * max(1, 10 - cell_len(label))}{text}"


def _failure(found: Aligned, rows: Sequence[Row], words: Words) -> Iterator[str]:
    """How the port came to its end, and what was wrong before that."""
    assert found.failure is not None
    told = found.failure["blame"]
    where = f"{told['file']}:{told['line']}" if told["file"] else words("in_framework")
    raised = found.failure["kind"] == "raised"
    yield "\n" + words(
        "raises" if raised else "ends", error=told["error"] if raised else words.said(told["error"]),
        module=told["path"] or words("root"), where=where, message=told["message"] if raised else words.said(told["message"]))
    guilty = [row for row in rows if row.verdict in ("port", "weights", "framework", "setting")]
    if guilty:
        named = ", ".join(f"{row.unit or words('root')} ({words.verdict(row.verdict)})" for row in guilty[:3])
        yield words("before", units=named)


def _call(call: Found, words: Words) -> Iterator[str]:
    """The reduced call, its script, and its kin."""
    yield _labelled("call", words("reduced", call=call.call, original=call.original, queries=call.queries), words)
    shown = f"{words('lines', count=call.lines)}, {words('show_it', reproduced=call.reproduced, runs=call.runs)}"
    script = f"{call.path} {shown}" if call.path else words("none", why=words.said(call.why))
    yield _labelled("script", script, words)
    yield from (words("alike", call=other) for other in call.alike)
