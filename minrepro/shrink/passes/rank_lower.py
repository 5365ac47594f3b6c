"""Remove axes of size 1, where the operator does not care about the rank."""

from __future__ import annotations

from typing import Iterator

import msgspec

from minrepro.ir.case import Case
from minrepro.ir.tensor import Expand, Layout, Permute, Slice, Strided, Tensor
from minrepro.shrink.state import Search

ORDER = 25


def run(search: Search) -> None:
    """Drop leading axes of size 1 from every feed that has the highest rank, then single ones."""
    again = True
    while again:
        again = any(search.accepts(variant) for _, variant in steps(search))


def steps(search: Search) -> Iterator[tuple[str, Case]]:
    """Cases with one axis less: in all feeds of the same rank, then in one feed."""
    case = search.case
    top = max((len(case.feeds[name].shape) for name in case.graph.inputs), default=0)
    for axis in range(top):
        feeds = {}
        for name in case.graph.inputs:
            tensor = case.feeds[name]
            shorter = squeezed(tensor, axis) if len(tensor.shape) == top else tensor
            if shorter is None:
                break
            feeds[name] = shorter
        else:
            yield f"axis {axis} of rank {top} dropped", msgspec.structs.replace(case, feeds=feeds)
    for name in case.graph.inputs:
        shorter = squeezed(case.feeds[name], 0)
        if shorter is not None and len(case.graph.inputs) > 1:
            yield f"axis 0 of {name} dropped", msgspec.structs.replace(case, feeds={**case.feeds, name: shorter})


def squeezed(tensor: Tensor, axis: int) -> Tensor | None:
    """The tensor without an axis of size 1, its layout otherwise as it was; None if the axis is larger."""
    if axis >= len(tensor.shape) or tensor.shape[axis] != 1:
        return None
    links, at = [], axis
    for link in reversed(tensor.layout.links):
        if isinstance(link, Strided) or (isinstance(link, (Slice, Expand)) and link.axis == at):
            return None
        if isinstance(link, Permute):
            inner = link.order[at]
            order = tuple(o - (o > inner) for position, o in enumerate(link.order) if position != at)
            if order != tuple(range(len(order))):
                links.insert(0, Permute(order))
            at = inner
        else:
            links.insert(0, msgspec.structs.replace(link, axis=link.axis - (link.axis > at)))
    if tensor.base.shape[at] != 1:
        return None
    return Tensor(tensor.base.squeeze(at), tensor.dtype, Layout(tuple(links)))
