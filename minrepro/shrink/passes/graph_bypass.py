"""Take steps out of the flow: who read the result of one reads what it was made from. Many at once, then one by one.

This comes after the sizes, for where every size is 1 most things fit, and before the values, because a zero hides much.
"""

from __future__ import annotations

from typing import Iterator, Mapping

import msgspec

from minrepro.ir.case import Case
from minrepro.ir.outcome import Completed
from minrepro.localise.bypass import bypass
from minrepro.shrink.state import Search

ORDER = 26


def run(search: Search) -> None:
    """Keep the few steps of the flow that the bug needs."""
    case = search.case
    names = [node.name for node in case.graph.nodes]
    if len(names) < 3:
        return

    def works(kept: list[str]) -> bool:
        if len(kept) == len(names):
            return True
        variant = _keeping(search, case, kept)
        return variant is not None and search.interesting(variant)

    variant = _keeping(search, case, search.essential(names, works))
    if variant is not None:
        search.accepts(variant)


def steps(search: Search) -> Iterator[tuple[str, Case]]:
    """Every case with one step less in the flow."""
    case = search.case
    if len(case.graph.nodes) < 3:
        return
    made = {name for node in case.graph.nodes for name in node.outputs}
    for gone in case.graph.nodes:
        kept = [node.name for node in case.graph.nodes if node is not gone]
        for choice in range(max(1, len(made & set(gone.inputs)))):
            variant = _keeping(search, case, kept, {gone.name: choice})
            if variant is not None:
                yield f"{gone.op} taken out of the flow", variant


def _keeping(search: Search, case: Case, kept: list[str], through: Mapping[str, int] = {}) -> Case | None:
    """The case with some of its steps; None if nothing is left, or the reference does not give what has to be fed."""
    graph = bypass(case.graph, kept, through)
    if not graph.nodes:
        return None
    feeds = dict(case.feeds)
    missing = tuple(name for name in graph.inputs if name not in feeds)
    if missing:
        made = search.reference(case, missing)
        if not isinstance(made, Completed):
            return None
        feeds.update(made.values)
    return msgspec.structs.replace(case, graph=graph, feeds={name: feeds[name] for name in graph.inputs})
