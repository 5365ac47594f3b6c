"""Leave optional tensors out: a bias, a mask, an item of a list. All at once, then the few that must stay.

This comes before sizes and values, because a value that was simplified may be all that a tensor is needed for.
"""

from __future__ import annotations

from typing import Iterator

from minrepro import ops
from minrepro.ir.case import Case
from minrepro.ir.graph import Ref, refs
from minrepro.ops.row import REQUIRED
from minrepro.shrink.coupling import set_argument, with_nodes
from minrepro.shrink.state import Search

ORDER = 12


def run(search: Search) -> None:
    """Drop every optional tensor that the bug does not need."""
    case = search.case
    optional = list(_optional(case))
    if optional:

        def without(stay: list[tuple[int, str]]) -> Case:
            nodes = list(case.graph.nodes)
            for index, name in optional:
                if (index, name) not in stay:
                    nodes[index] = set_argument(nodes[index], name, -1, None)
            return with_nodes(case, nodes)

        stay = search.essential(optional, lambda s: len(s) == len(optional) or search.interesting(without(s)))
        search.accepts(without(stay))
    again = True
    while again:
        again = any(search.accepts(variant) for _, variant in steps(search))


def _optional(case: Case) -> Iterator[tuple[int, str]]:
    """Tensor arguments whose default is None."""
    for index, node in enumerate(case.graph.nodes):
        row = ops.find(node.op)
        for name, value in node.args.items():
            if isinstance(value, Ref) and row is not None and row.params.get(name, REQUIRED) is None:
                yield index, name


def steps(search: Search) -> Iterator[tuple[str, Case]]:
    """One optional tensor left out; one tensor of a list left out."""
    case = search.case
    for index, name in _optional(case):
        nodes = list(case.graph.nodes)
        nodes[index] = set_argument(nodes[index], name, -1, None)
        yield f"{nodes[index].op}: {name} left out", with_nodes(case, nodes)
    for index, node in enumerate(case.graph.nodes):
        for name, value in node.args.items():
            if isinstance(value, tuple) and len(value) > 1 and any(True for _ in refs(value)):
                for position in range(len(value)):
                    nodes = list(case.graph.nodes)
                    nodes[index] = set_argument(node, name, -1, value[:position] + value[position + 1 :])
                    yield f"{node.op}: item {position} of {name} left out", with_nodes(case, nodes)
