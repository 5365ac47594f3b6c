"""Make memory layouts contiguous: all tensors at once, then the few that must stay, then link by link."""

from __future__ import annotations

from typing import Iterator

import msgspec

from minrepro.ir.case import Case
from minrepro.ir.tensor import CONTIGUOUS
from minrepro.shrink.resize import straightened
from minrepro.shrink.state import Search

ORDER = 30


def run(search: Search) -> None:
    """Straighten every tensor whose layout the bug does not need."""
    case = search.case
    bent = [name for name in case.graph.inputs if case.feeds[name].layout != CONTIGUOUS]
    if not bent:
        return

    def without(stay: list[str]) -> Case:
        feeds = {n: t.contiguous() if n in bent and n not in stay else t for n, t in case.feeds.items()}
        return msgspec.structs.replace(case, feeds=feeds)

    stay = search.essential(bent, lambda kept: len(kept) == len(bent) or search.interesting(without(kept)))
    search.accepts(without(stay))
    again = True
    while again:
        again = any(search.accepts(variant) for _, variant in steps(search))


def steps(search: Search) -> Iterator[tuple[str, Case]]:
    """One link of one layout removed; a tensor made contiguous."""
    case = search.case
    for name in case.graph.inputs:
        tensor = case.feeds[name]
        if tensor.layout == CONTIGUOUS:
            continue
        yield f"{name} made contiguous", msgspec.structs.replace(case, feeds={**case.feeds, name: tensor.contiguous()})
        for what, straighter in straightened(tensor):
            yield f"{name}: {what}", msgspec.structs.replace(case, feeds={**case.feeds, name: straighter})
