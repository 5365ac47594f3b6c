"""What a sweep runs: operator x sample x dtype x layout x mode, named so that a name gives the same case everywhere.

A sample runs as it is, and in every layout with every dtype of its kind. What leaves its kind (floats as integers or
complex numbers) runs in the sample's own layout only: those variants ask whether a kernel exists and is right at all.
Backward, what reads floating-point tensors is differentiated by them (`sweep.backward`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec
import numpy as np

from minrepro import ops
from minrepro.errors import UsageError
from minrepro.ir.case import Case
from minrepro.ir.dtype import DTYPES, DType, dtype
from minrepro.ir.graph import Graph, Node, Ref
from minrepro.ir.tensor import CONTIGUOUS, Layout, Permute, Slice, Tensor
from minrepro.sweep.backward import MODE, Pinned, differentiable, differentiated

FORWARD = "forward"
MODES = (FORWARD, MODE)
OWN = "own"
"""The layout that the sample has."""
KINSHIP: Mapping[str, tuple[str, ...]] = {
    "float": ("float32", "float64", "float16", "bfloat16"),
    "complex": ("complex64", "complex128"),
    "int": ("int64", "int32", "int16", "int8", "uint8"),
    "uint": ("int64", "int32", "int16", "int8", "uint8"),
    "bool": ("bool",),
}
"""Kind of a sample -> dtypes that it is run in, with every layout."""
FOREIGN = (*KINSHIP["int"], "bool", *KINSHIP["complex"])
"""Dtypes that a floating-point sample is run in besides, in its own layout."""
FEW = 3.0
"""Floats are stretched by this before they become integers, so that more than 0 and 1 is left of normal values."""


class Item(msgspec.Struct, frozen=True):
    """The name of one case.

    Attributes:
        op: row of the operator table.
        sample: its number in the row.
        dtype: of the leading tensors (those of the sample's most general kind).
        layout: `OWN` or a name of `LAYOUTS`.
        given: True if this is the sample itself; otherwise the reference may refuse it without anybody being wrong.
        mode: ``forward`` or ``backward``.
    """

    op: str
    sample: int
    dtype: str
    layout: str
    given: bool
    mode: str = FORWARD


def from_sample(row: ops.Op, sample: Mapping[str, Any], reference: str = "torch", candidate: str = "torch") -> Case:
    """The case of one sample: tensors become feeds, everything else stays an argument."""
    feeds: dict[str, Tensor] = {}

    def argument(name: str, value: Any) -> Any:
        if isinstance(value, Tensor):
            feeds[f"v_{name}"] = value
            return Ref(f"v_{name}")
        if isinstance(value, (list, tuple)):
            return tuple(argument(f"{name}_{i}", item) for i, item in enumerate(value))
        return value

    args = {name: argument(name, value) for name, value in sample.items() if not name.startswith("_")}
    count = sample.get("_outputs", 1)
    outputs = tuple(f"out{i}" for i in range(count)) if count > 1 else ("out",)
    return Case(Graph(tuple(feeds), (Node(row.name, args, outputs),), outputs), feeds, reference, candidate)


def plan(
    names: Iterable[str] = (), dtypes: Iterable[str] = (), layouts: Iterable[str] = (), modes: Iterable[str] = (FORWARD,)
) -> Iterator[Item]:
    """Every case of a sweep, operator by operator.

    Args:
        names: operators; all if there are none.
        dtypes: dtypes of the leading tensors; all if there are none.
        layouts: `OWN` and names of `LAYOUTS`; all if there are none.
        modes: out of `MODES`.

    Raises:
        UsageError: for an operator, dtype, layout or mode that there is not.
    """
    rows, known, modes = ops.table(), (OWN, *LAYOUTS), list(modes)
    names, dtypes, layouts = list(names) or sorted(rows), list(dtypes) or list(DTYPES), list(layouts) or list(known)
    for asked, all_, what in (
        (names, rows, "operator"), (dtypes, DTYPES, "dtype"), (layouts, known, "layout"), (modes, MODES, "mode"),
    ):
        for name in asked:
            if name not in all_:
                raise UsageError(f"expected {what}s out of {', '.join(all_)}, found {name!r}")
    for name in names:
        cases = [from_sample(rows[name], sample) for sample in rows[name].samples]
        if FORWARD in modes:
            for number, case in enumerate(cases):
                yield from _variants(name, number, case, dtypes, layouts)
        if MODE in modes:
            yield from _gradients(name, cases, dtypes, layouts)


def _gradients(name: str, cases: list[Case], dtypes: list[str], layouts: list[str]) -> Iterator[Item]:
    """The variants that read a floating-point tensor, differentiated."""
    for number, case in enumerate(cases):
        if differentiable(case):
            for item in _variants(name, number, case, dtypes, layouts):
                # Complex numbers in place of others are the concern of the forward pass.
                own = leading(case)
                if own is not None and dtype(item.dtype).kind == own.kind:
                    yield msgspec.structs.replace(item, mode=MODE)


def _variants(name: str, number: int, case: Case, dtypes: list[str], layouts: list[str]) -> Iterator[Item]:
    own = leading(case)
    if own is None:
        # No tensors: one case, whatever dtypes are asked for.
        yield from [Item(name, number, "", OWN, True)] if OWN in layouts else []
        return
    kin = KINSHIP[own.kind]
    foreign = FOREIGN if own.kind == "float" else ()
    there = [layout for layout in layouts if layout == OWN or LAYOUTS[layout](case) is not None]
    for kind in dict.fromkeys((own.name, *kin, *foreign)):
        if kind in dtypes:
            for layout in there if kind in (own.name, *kin) else there[:1] if OWN in there[:1] else ():
                yield Item(name, number, kind, layout, kind == own.name and layout == OWN)


def case_of(item: Item, reference: str, candidate: str, pinned: Pinned | None = None) -> Case:
    """The case that an item names: the step itself, and backward the gradient step if it is known what that looks like."""
    case = _step_of(item, reference, candidate)
    return case if pinned is None else differentiated(case, pinned)


def _step_of(item: Item, reference: str, candidate: str) -> Case:
    row = ops.table()[item.op]
    case = from_sample(row, row.samples[item.sample], reference, candidate)
    own = leading(case)
    if own is not None and item.dtype != own.name:
        feeds = {name: _cast(feed, dtype(item.dtype)) if feed.dtype.kind == own.kind else feed
                 for name, feed in case.feeds.items()}
        case = msgspec.structs.replace(case, feeds=feeds)
        case = case if dtype(item.dtype).inexact else _whole(case)
    if item.layout == OWN:
        return case
    feeds = LAYOUTS[item.layout](case)
    assert feeds is not None
    return msgspec.structs.replace(case, feeds=feeds)


def _whole(case: Case) -> Case:
    """The case with whole factors: torch documents that integers ask for them, and drops a fraction without a word."""
    node = case.graph.nodes[0]
    factors = ("alpha", "beta", "value") if node.op.startswith("addc") else ("alpha", "beta")
    whole = {
        name: int(math.copysign(math.ceil(abs(value)), value))
        for name, value in node.args.items() if name in factors and isinstance(value, float) and math.isfinite(value)
    }
    nodes = (msgspec.structs.replace(node, args={**node.args, **whole}), *case.graph.nodes[1:])
    return msgspec.structs.replace(case, graph=msgspec.structs.replace(case.graph, nodes=nodes))


def leading(case: Case) -> DType | None:
    """Dtype of the first tensor of the most general kind that the case has; None if it has no tensors."""
    found = [case.feeds[name].dtype for name in case.graph.inputs]
    order = ("complex", "float", "int", "uint", "bool")
    return min(found, key=lambda kind: order.index(kind.kind), default=None)


def _cast(tensor: Tensor, to: DType) -> Tensor:
    if tensor.dtype.inexact and not to.inexact:
        stretched = np.rint(tensor.base.astype(np.float64) * FEW)
        return tensor.with_base(np.abs(stretched) if to.kind in ("uint", "bool") else stretched).cast(to)
    return tensor.cast(to)


def _each(change: Callable[[Tensor], Tensor | None]) -> Callable[[Case], dict[str, Tensor] | None]:
    """A layout out of a change of one contiguous tensor; None if it changes none."""

    def apply(case: Case) -> dict[str, Tensor] | None:
        changed = {
            name: new for name, feed in case.feeds.items()
            if feed.layout == CONTIGUOUS and (new := change(feed)) is not None
        }
        return {**case.feeds, **changed} if changed else None

    return apply


def _transposed(tensor: Tensor) -> Tensor | None:
    """The same values with the axes in reversed order in memory."""
    if sum(extent > 1 for extent in tensor.shape) < 2:
        return None
    order = tuple(reversed(range(len(tensor.shape))))
    return Tensor(np.ascontiguousarray(tensor.view.transpose(order)), tensor.dtype, Layout((Permute(order),)))


def _stepped(tensor: Tensor) -> Tensor | None:
    """The same values as every second item of the last axis; between them the axis backwards, so that it shows."""
    if not tensor.shape or tensor.size == 0:
        return None
    axis, extent = len(tensor.shape) - 1, tensor.shape[-1]
    base = np.stack([tensor.view, np.flip(tensor.view, -1)], -1).reshape(*tensor.shape[:-1], 2 * extent)
    return Tensor(base, tensor.dtype, Layout((Slice(axis, 0, 2, extent, 2 * extent),)))


def _empty(case: Case) -> dict[str, Tensor] | None:
    """Nothing along the first axis of the first tensor and along first axes of the same size."""
    extents = [feed.shape[0] for feed in case.feeds.values() if feed.shape]
    if not extents or extents[0] == 0:
        return None
    return {
        name: Tensor(feed.view[:0], feed.dtype) if feed.shape[:1] == (extents[0],) else feed
        for name, feed in case.feeds.items()
    }


LAYOUTS: Mapping[str, Callable[[Case], dict[str, Tensor] | None]] = {
    "transposed": _each(_transposed),
    "stepped": _each(_stepped),
    "empty": _empty,
}
"""Layout -> the feeds of a case in it, or None where it is the same case."""
