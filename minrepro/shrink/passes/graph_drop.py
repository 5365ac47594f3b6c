"""Leave a step out: what it made is fed instead, with the values that the reference gives it."""

from __future__ import annotations

from typing import Iterator

import msgspec

from minrepro.ir.case import Case
from minrepro.ir.outcome import Completed
from minrepro.shrink.state import Search

ORDER = 27


def run(search: Search) -> None:
    """Drop steps one by one, last first, as long as one can go."""
    again = len(search.case.graph.nodes) > 1
    while again:
        again = any(search.accepts(variant) for _, variant in steps(search))


def steps(search: Search) -> Iterator[tuple[str, Case]]:
    """Every case that has one step less."""
    case = search.case
    if len(case.graph.nodes) < 2:
        return
    for position in range(len(case.graph.nodes) - 1, -1, -1):
        node = case.graph.nodes[position]
        keep = case.graph.nodes[:position] + case.graph.nodes[position + 1 :]
        wanted = tuple(name for name in case.graph.outputs if name not in node.outputs)
        graph = case.graph.subgraph(keep, wanted or None)
        feeds = dict(case.feeds)
        missing = [name for name in graph.inputs if name not in feeds]
        if missing:
            made = search.reference(case, tuple(missing))
            if not isinstance(made, Completed):
                continue
            feeds.update(made.values)
        feeds = {name: feeds[name] for name in graph.inputs}
        yield f"without {node.op}", msgspec.structs.replace(case, graph=graph, feeds=feeds)
