"""Simple values: plain patterns for all tensors at once, then a ladder of patterns for each, then element by element.

Small integers and powers of two come before anything random: sums of them are exact in every order, so a difference
that survives needs no tolerance to be believed (the exact witness of the design note on reduction, section 7).
"""

from __future__ import annotations

import math
from typing import Callable, Iterator

import msgspec
import numpy as np

from minrepro.ir.case import Case
from minrepro.ir.dtype import from_float64, to_float64
from minrepro.ir.tensor import Tensor
from minrepro.shrink.order import value_rank
from minrepro.shrink.state import Search

ORDER = 40
MANY = 512
"""Elements above which single values are not searched."""

PLAIN = 3
"""Rungs of the ladder that all tensors are put on at once, and that the certificate asks for."""
PATTERN = 3
"""Values up to this rank are a pattern, which reads more easily than any list of numbers."""

Rung = Callable[[Tensor], np.ndarray]

LADDER: tuple[tuple[str, Rung], ...] = (
    ("zeros", lambda t: np.zeros(t.base.size)),
    ("ones", lambda t: np.ones(t.base.size)),
    ("0, 1, 2, ...", lambda t: np.arange(t.base.size)),
    ("-3 .. 3", lambda t: np.arange(t.base.size) % 7 - 3),
    ("powers of two", lambda t: 2.0 ** (np.arange(t.base.size) % 5 - 2) * (1 - 2 * (np.arange(t.base.size) % 2))),
    ("small integers", lambda t: np.random.RandomState(0).randint(-8, 9, t.base.size)),
    ("three bits of a normal draw", lambda t: np.round(np.random.RandomState(0).standard_normal(t.base.size) * 4) / 4),
)


def run(search: Search) -> None:
    """Replace values by simpler ones as far as the bug allows."""
    for _, rung in LADDER[:PLAIN]:
        if search.accepts(_with(search.case, list(search.case.graph.inputs), rung)):
            break
    for name in search.case.graph.inputs:
        _one_tensor(search, name)


def _one_tensor(search: Search, name: str) -> None:
    """The simplest rung for one tensor; failing that, its few essential elements."""
    for _, rung in LADDER:
        if search.accepts(_with(search.case, [name], rung)):
            return
    tensor = search.case.feeds[name]
    if value_rank(tensor) <= PATTERN or tensor.base.size > MANY:
        return
    _few_elements(search, name)
    for position in range(search.case.feeds[name].base.size):
        _round_element(search, name, position)


def _few_elements(search: Search, name: str) -> None:
    """Set all elements to zero but those that the bug needs."""
    case = search.case
    flat = case.feeds[name].base.reshape(-1)
    alive = [int(i) for i in np.flatnonzero(flat)]

    def keeping(kept: list[int]) -> Case:
        base = np.zeros_like(flat)
        base[kept] = flat[kept]
        return _replaced(case, name, base)

    kept = search.essential(alive, lambda some: len(some) == len(alive) or search.interesting(keeping(some)))
    search.accepts(keeping(kept))


def _round_element(search: Search, name: str, position: int) -> None:
    for variant in _rounded(search.case, name, position):
        if search.accepts(variant):
            return


def _rounded(case: Case, name: str, position: int) -> Iterator[Case]:
    """One element replaced by simpler numbers: 0, 1, -1, 2, an integer, a power of two, one digit, three digits."""
    tensor = case.feeds[name]
    flat = tensor.base.reshape(-1)
    value = to_float64(flat[position : position + 1], tensor.dtype)[0]
    if isinstance(value, complex) or np.iscomplexobj(value) or value == 0:
        return
    options = [0.0, 1.0, -1.0, 2.0, -2.0, 0.5]
    if math.isfinite(value):
        options += [float(round(value)), math.copysign(2.0 ** round(math.log2(abs(value))), value)]
        options += [float(f"{value:.0e}"), float(f"{value:.2e}")]
    for option in options:
        base = flat.copy()
        with np.errstate(all="ignore"):
            base[position] = from_float64(np.array([option]), tensor.dtype)[0]
        if base[position] != flat[position]:
            yield _replaced(case, name, base)


def steps(search: Search) -> Iterator[tuple[str, Case]]:
    """Each tensor on each simpler rung; each element of a small tensor set to zero."""
    case = search.case
    for name in case.graph.inputs:
        for what, rung in LADDER[:PLAIN]:
            yield f"{name} as {what}", _with(case, [name], rung)
        flat = case.feeds[name].base.reshape(-1)
        if value_rank(case.feeds[name]) > PATTERN and flat.size <= 64:
            for position in np.flatnonzero(flat):
                base = flat.copy()
                base[position] = 0
                yield f"{name}: item {position} as 0", _replaced(case, name, base)


def _with(case: Case, names: list[str], rung: Rung) -> Case:
    """The case with some tensors on a rung; integers stay in the range they had, for they may be indices."""
    feeds = dict(case.feeds)
    for name in names:
        tensor = case.feeds[name]
        values = np.asarray(rung(tensor), np.float64)
        if tensor.dtype.kind in ("int", "uint") and tensor.base.size:
            low, high = int(tensor.base.min()), int(tensor.base.max())
            if low >= 0:
                values = np.mod(np.abs(values), max(1, high + 1)) if high < 1 << 31 else np.abs(values)
        if tensor.dtype.kind == "bool":
            values = np.mod(values, 2)
        if tensor.dtype.inexact:
            base = from_float64(values, tensor.dtype)
        else:
            base = values.astype(tensor.dtype.storage)
        feeds[name] = tensor.with_base(base.reshape(tensor.base.shape))
    return msgspec.structs.replace(case, feeds=feeds)


def _replaced(case: Case, name: str, flat: np.ndarray) -> Case:
    tensor = case.feeds[name]
    return msgspec.structs.replace(case, feeds={**case.feeds, name: tensor.with_base(flat.reshape(tensor.base.shape))})
