"""Numbers that divide a size (groups, heads) and the size together: one cannot become smaller without the other."""

from __future__ import annotations

from typing import Iterator

import msgspec

from minrepro.ir.case import Case
from minrepro.shrink.coupling import couplings, integers, set_argument
from minrepro.shrink.passes.dims_lower import variants
from minrepro.shrink.state import Search

ORDER = 22
MOST = 64
"""Largest number of groups that is taken for one."""


def run(search: Search) -> None:
    """Lower the numbers of groups."""
    again = True
    while again:
        again = any(search.accepts(variant) for _, variant in steps(search))


def steps(search: Search) -> Iterator[tuple[str, Case]]:
    """One number at 1, at 2, or one smaller, and each size that it divides in proportion."""
    case = search.case
    for index, node in enumerate(case.graph.nodes):
        for param, position, value in integers(node):
            if position >= 0 or not 2 <= value <= MOST:
                continue
            for number in sorted({1, 2, value - 1} - {value}):
                nodes = list(case.graph.nodes)
                nodes[index] = set_argument(node, param, position, number)
                fewer = msgspec.structs.replace(case, graph=msgspec.structs.replace(case.graph, nodes=tuple(nodes)))
                for group in couplings(case)[0]:
                    if group.size % value == 0:
                        size = group.size // value * number
                        for variant in variants(search, fewer, {group: size}, 1):
                            yield f"{param} = {number}, {group.name} from {group.size} to {size}", variant
