"""Plant a mistake in a port, align, and hold what was said against what was done."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from minrepro import zoo
from minrepro.align import Aligned, Alignment, Request
from minrepro.align.command import zoo_port
from minrepro.align.findings import Row
from minrepro.align.verdict import verdict
from minrepro.capture.source import resolve
from minrepro.compare.pair import Pair, open_side
from minrepro.errors import MinreproError

from .mistakes import Mistake

GUILTY = ("port", "weights", "setting", "framework", "unexplained", "draw", "policy", "raises")
"""Verdicts of rows that say that something is wrong."""


class Outcome(msgspec.Struct):
    """What `align` said about one planted mistake.

    Attributes:
        verdict: of the alignment.
        unit: the first guilty unit.
        named: it is the right one.
        strays: guilty units that have nothing to do with the mistake.
        lined: a line that was changed, or the entry of the state, was named.
        lines: how many lines were named for that unit.
        framework: the framework was blamed.
        note: what the report says about the unit.
    """

    mistake: str
    framework_name: str
    seed: int
    verdict: str = ""
    unit: str = ""
    named: bool = False
    strays: tuple[str, ...] = ()
    lined: bool = False
    lines: int = 0
    framework: bool = False
    note: str = ""
    seconds: float = 0.0


class Ground:
    """Both workers of one framework, used for one alignment after the other."""

    def __init__(self, framework: str, folder: Path):
        self.framework, self.folder = framework, folder
        folder.mkdir(parents=True, exist_ok=True)
        self.pair = Pair(open_side("torch", folder), open_side(framework, folder), folder, 120.0)

    def align(self, model: str, port: Path | None = None, seed: int = 0) -> Aligned:
        """Align a zoo model with its port, or with another file of that port."""
        place = zoo_port(model, self.framework)
        rules = zoo.port_map(place["file"])
        if port is not None:
            place = {**place, "file": str(port), "paths": [str(port.parent)]}
        request = Request(
            resolve(model), place, (model, "zoo"), {**place, "callable": "convert"},
            tuple(f"{left}={right}" for left, right in rules.items()), seed=seed, deadline_s=120.0,
        )
        return Alignment(self.pair, request).run()

    def plant(self, mistake: Mistake, seed: int) -> Outcome:
        """Align with the mistake in the port."""
        began = time.monotonic()
        outcome = Outcome(mistake.name, mistake.framework, seed)
        text, wrong = mistake.applied(Path(zoo_port(mistake.model, self.framework)["file"]).read_text(encoding="utf-8"))
        port = self.folder / f"{mistake.name}.py"
        port.write_text(text, encoding="utf-8")
        try:
            self._judge(outcome, mistake, self.align(mistake.model, port, seed), str(port), wrong)
        except MinreproError as error:
            outcome.verdict, outcome.note = "refused", str(error)
        outcome.seconds = time.monotonic() - began
        return outcome

    def _judge(self, outcome: Outcome, mistake: Mistake, found: Aligned, port: str, wrong: range) -> None:
        guilty = [row for row in found.rows if row.verdict in GUILTY]
        outcome.verdict = verdict(found)
        outcome.framework = outcome.verdict == "framework" or any(row.verdict == "framework" for row in guilty)
        if guilty:
            outcome.unit, outcome.note, outcome.named = guilty[0].unit, guilty[0].note, mistake.named(guilty[0].unit)
        # A layer that raises on the wrong shape that it was given is what the mistake led to.
        outcome.strays = tuple(row.unit for row in guilty if not mistake.named(row.unit) and row.verdict != "raises")
        if mistake.key:
            blamed = [entry for entry in found.entries if entry.blame]
            outcome.named = outcome.named or not guilty and bool(blamed)  # a weight that this forward does not use
            outcome.lined = bool(blamed) and all(e.blame == "converter" and mistake.keyed(e.key) for e in blamed)
        else:
            told = lines([row for row in guilty if mistake.named(row.unit)], port)
            outcome.lined, outcome.lines = bool(told & set(wrong)), len(told)

    def stop(self) -> None:
        """Stop both workers."""
        self.pair.stop()


def lines(rows: Sequence[Row], port: str) -> set[int]:
    """Numbers of the port's lines that some rows name, in their place or in their sentence."""
    found: set[int] = set()
    for row in rows:
        for first, last in re.findall(re.escape(port) + r":(\d+)(?:-(\d+))?", f"{row.lines[1]} {row.note}"):
            found |= set(range(int(first), int(last or first) + 1))
    return found
