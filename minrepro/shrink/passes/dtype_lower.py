"""The plainest dtypes: float32 for every floating tensor, int64 for every integer one, together and then one by one."""

from __future__ import annotations

from typing import Iterator

import msgspec

from minrepro.ir.case import Case
from minrepro.ir.dtype import DType, dtype
from minrepro.ir.graph import Arg, Node
from minrepro.shrink.state import Search

ORDER = 60
PLAIN = {"float": "float32", "int": "int64", "uint": "int64", "complex": "complex64"}


def run(search: Search) -> None:
    """Take the plainest dtypes that still show the bug."""
    again = True
    while again:
        again = any(search.accepts(variant) for _, variant in steps(search))


def steps(search: Search) -> Iterator[tuple[str, Case]]:
    """All tensors of one dtype at the plain dtype of their kind; real instead of complex; each tensor alone."""
    case = search.case
    present = sorted({case.feeds[name].dtype.name for name in case.graph.inputs})
    for old in present:
        for new in dict.fromkeys((PLAIN.get(dtype(old).kind, old), "float32")):
            if new != old and dtype(old).kind != "bool":
                yield f"{old} as {new}", _cast(case, old, new, case.graph.inputs)
    for name in case.graph.inputs:
        old = case.feeds[name].dtype
        new = PLAIN.get(old.kind, old.name)
        if new != old.name:
            yield f"{name} as {new}", _cast(case, old.name, new, (name,))


def _cast(case: Case, old: str, new: str, names: tuple[str, ...]) -> Case:
    feeds = {
        name: tensor.cast(dtype(new)) if name in names and tensor.dtype.name == old else tensor
        for name, tensor in case.feeds.items()
    }
    nodes = tuple(_recast(node, old, new) for node in case.graph.nodes)
    return msgspec.structs.replace(case, feeds=feeds, graph=msgspec.structs.replace(case.graph, nodes=nodes))


def _recast(node: Node, old: str, new: str) -> Node:
    def one(arg: Arg) -> Arg:
        if isinstance(arg, DType):
            return dtype(new) if arg.name == old else arg
        return tuple(map(one, arg)) if isinstance(arg, tuple) else arg

    return msgspec.structs.replace(node, args={name: one(arg) for name, arg in node.args.items()})
