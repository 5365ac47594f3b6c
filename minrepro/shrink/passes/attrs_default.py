"""Arguments at their defaults: all at once, then the few that must stay; numbers as small as they can be."""

from __future__ import annotations

from typing import Any, Iterator

from minrepro import ops
from minrepro.ir.case import Case
from minrepro.ir.graph import Node, refs
from minrepro.ops.row import REQUIRED
from minrepro.shrink.coupling import set_argument, with_nodes
from minrepro.shrink.state import Search

ORDER = 50


def run(search: Search) -> None:
    """Bring every argument that the bug does not need to its default or to a small number."""
    case = search.case
    set_ones = [(i, name) for i, node in enumerate(case.graph.nodes) for name in _given(node)]

    def without(stay: list[tuple[int, str]]) -> Case:
        nodes = list(case.graph.nodes)
        for index, name in set_ones:
            if (index, name) not in stay:
                row = ops.find(nodes[index].op)
                nodes[index] = set_argument(nodes[index], name, -1, row.params[name])
        return with_nodes(case, nodes)

    if set_ones:
        stay = search.essential(set_ones, lambda s: len(s) == len(set_ones) or search.interesting(without(s)))
        search.accepts(without(stay))
    again = True
    while again:
        again = any(search.accepts(variant) for _, variant in steps(search))


def _given(node: Node) -> Iterator[str]:
    """Constant arguments with a default that they differ from."""
    row = ops.find(node.op)
    for name, value in node.args.items():
        default = row.params.get(name, REQUIRED) if row is not None else REQUIRED
        if default is REQUIRED or any(True for _ in refs(value)):
            continue
        if type(value) is not type(default) or value != default:
            yield name


def steps(search: Search) -> Iterator[tuple[str, Case]]:
    """One argument at its default, or one number of it made smaller."""
    case = search.case
    for index, node in enumerate(case.graph.nodes):
        row = ops.find(node.op)
        for name, value in node.args.items():
            default = row.params.get(name, REQUIRED) if row is not None else REQUIRED
            for other in _simpler(value, default):
                nodes = list(case.graph.nodes)
                nodes[index] = set_argument(node, name, -1, other)
                yield f"{node.op}: {name} = {other!r}", with_nodes(case, nodes)


def _simpler(value: Any, default: Any) -> Iterator[Any]:
    """Simpler arguments, simplest first."""
    if any(True for _ in refs(value)):
        return
    if default is not REQUIRED and (type(value) is not type(default) or value != default):
        yield default
    if isinstance(value, bool):
        if value:
            yield False
    elif isinstance(value, (int, float)):
        yield from _numbers(value)
    elif isinstance(value, tuple):
        for position, item in enumerate(value):
            if isinstance(item, (int, float)) and not isinstance(item, bool):
                for other in _numbers(item):
                    yield value[:position] + (other,) + value[position + 1 :]
        if len(value) > 1:
            for position in range(len(value)):
                yield value[:position] + value[position + 1 :]


def _numbers(value: int | float) -> Iterator[int | float]:
    """Numbers of the same type that read more easily."""
    kind = type(value)
    whole = abs(value) < 2**53 and value == value
    options = [kind(0), kind(1), kind(2)]
    if isinstance(value, int) and 3 < value < 1 << 31:
        options += [3, value // 2, value - 1]
    if isinstance(value, float) and whole:
        options += [float(round(value)), float(f"{value:.0e}")]
    seen = set()
    for option in options:
        if option not in seen and abs(option) < abs(value):
            seen.add(option)
            yield option
