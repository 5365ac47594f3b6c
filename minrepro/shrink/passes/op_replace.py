"""A simpler operator that shows the same bug: what loading a module does, without the module."""

from __future__ import annotations

from typing import Iterator

import msgspec

from minrepro.ir.case import Case
from minrepro.shrink.siblings import SIMPLER
from minrepro.shrink.state import Search

ORDER = 15


def run(search: Search) -> None:
    """Replace operators while the bug stays."""
    for _, variant in list(steps(search)):
        search.accepts(variant)


def steps(search: Search) -> Iterator[tuple[str, Case]]:
    """One operator replaced by its simpler sibling."""
    case = search.case
    for index, node in enumerate(case.graph.nodes):
        if node.op in SIMPLER:
            nodes = list(case.graph.nodes)
            nodes[index] = msgspec.structs.replace(node, op=SIMPLER[node.op])
            graph = msgspec.structs.replace(case.graph, nodes=tuple(nodes))
            yield f"{SIMPLER[node.op]} instead of {node.op}", msgspec.structs.replace(case, graph=graph)
