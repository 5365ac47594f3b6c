"""Spell calls without the arguments that equal their defaults, if a run shows that nothing changes."""

from __future__ import annotations

from typing import Iterator

import msgspec

from minrepro.ir.case import Case
from minrepro.shrink.state import Search

ORDER = 90


def run(search: Search) -> None:
    """Take the short spelling."""
    for _, variant in steps(search):
        search.accepts(variant)


def steps(search: Search) -> Iterator[tuple[str, Case]]:
    """The case in the short spelling, unless it reads the same."""
    case = search.case
    short = msgspec.structs.replace(case, terse=True)
    if not case.terse and search.text(short) != search.text(case):
        yield "default arguments left out", short
