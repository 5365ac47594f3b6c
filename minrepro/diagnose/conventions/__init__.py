"""Documented differences between torch and the other frameworks: each with its source and the line to change.

One file per framework, each with a table ``CONVENTIONS``. A difference that a spelling in `ops` translates is here for
those who write or port a model by hand; one that shows in a comparison has an experiment, and counts only if that
experiment predicted what was seen. A convention is nobody's bug.
"""

from __future__ import annotations

from functools import cache
from typing import Callable, Iterable

import msgspec

from minrepro import registry
from minrepro.diagnose.scene import Scene
from minrepro.ir.case import Case
from minrepro.ir.reduction import Diagnosis, Probe


class Convention(msgspec.Struct, frozen=True):
    """One documented difference.

    Attributes:
        name: short, unique within the framework.
        ops: operators that it is about.
        says: what torch does and what the framework does, in one sentence.
        change: the line to change in the user's code.
        where: dotted name of the framework's own documentation (a docstring or a signature).
        quote: words that stand there.
        source: the same on the web, where there is a page that compares the two; or ``""``.
        symptoms: how it shows.
        probes: its experiment; None where a spelling translates it, so that it never shows.
    """

    name: str
    ops: tuple[str, ...]
    says: str
    change: str
    where: str
    quote: str
    source: str = ""
    symptoms: tuple[str, ...] = ("value",)
    probes: Callable[[Scene], Iterable[Probe]] | None = None

    @property
    def cited(self) -> str:
        """The source as the report gives it."""
        return f"{self.where}: {self.quote!r}" + (f"; {self.source}" if self.source else "")


@cache
def table() -> dict[str, tuple[Convention, ...]]:
    """Backend name -> its conventions."""
    found = registry.table("minrepro.diagnose.conventions", "CONVENTIONS")
    return {name: tuple(rows) for name, rows in found.items()}  # type: ignore[call-overload]


def about(framework: str, case: Case) -> list[Convention]:
    """The conventions that may show in a case: those of its operators that have an experiment."""
    ops = {node.op for node in case.graph.nodes}
    return [row for row in table().get(framework, ()) if row.probes is not None and ops & set(row.ops)]


def convention(scene: Scene) -> Diagnosis | None:
    """The convention that predicts this divergence, or None."""
    candidate = scene.pair.candidate.spec
    if scene.pair.reference.spec.name != "torch" or candidate.replay:
        return None
    for row in about(candidate.name, scene.case):
        if row.probes is None or scene.symptom not in row.symptoms:
            continue
        probes = tuple(row.probes(scene))
        if probes and all(probe.confirmed for probe in probes):
            return Diagnosis(f"convention: {row.name}", "neither", row.says, probes, (), row.change, row.cited)
    return None
