"""Make sizes small: all classes at 1, at 2, at 3; then the few that must stay large, galloping up from the minimum.

Size-1 special paths often hide a bug, hence the second and third level (design note on reduction, 6.2). Values are
kept by cropping: first around the worst element of the output, then around extreme values, then from the start.
"""

from __future__ import annotations

from typing import Iterator, Mapping

import msgspec
import numpy as np

from minrepro.ir.case import Case
from minrepro.ir.tensor import Tensor
from minrepro.shrink.coupling import Class, apply, couplings
from minrepro.shrink.resize import resize
from minrepro.shrink.state import Search

ORDER = 20
LEVELS = (1, 2, 3)


def run(search: Search) -> None:
    """Lower every class of coupled sizes as far as the bug allows."""
    for position in range(len(couplings(search.case))):
        options = couplings(search.case)
        if position < len(options) and _lower(search, position):
            return


def _lower(search: Search, position: int) -> bool:
    """Work with one way of coupling; returns True if it led anywhere."""
    before = search.case
    classes = couplings(before)[position]
    if not classes:
        return False
    for level in LEVELS:
        sizes = {c: max(c.low, min(level, c.size)) for c in classes}
        windows = None if level == 1 else 1
        if any(search.accepts(v) for v in variants(search, before, sizes, windows)):
            break
    else:
        _keep_few(search, before, classes)
    for name in [c.name for c in sorted(classes, key=lambda c: -c.size)]:
        _gallop(search, position, name)
    return search.case is not before


def _keep_few(search: Search, case: Case, classes: tuple[Class, ...]) -> None:
    """Find the classes that must stay as they are while the others go to the minimum."""

    def works(stay: list[Class]) -> bool:
        sizes = {c: c.low for c in classes if c not in stay and c.size > c.low}
        return any(search.interesting(v) for v in variants(search, case, sizes, 1))

    stay = search.essential(list(classes), works)
    sizes = {c: c.low for c in classes if c not in stay and c.size > c.low}
    any(search.accepts(v) for v in variants(search, case, sizes, 1))


def _gallop(search: Search, position: int, name: str) -> None:
    """Lower one class alone."""
    case = search.case
    options = couplings(case)
    group = next((c for c in options[position] if c.name == name), None) if position < len(options) else None
    if group is None or group.size <= group.low:
        return

    def works(size: int) -> bool:
        return any(search.interesting(v) for v in variants(search, case, {group: size}, 2))

    best = search.smallest(group.low, group.size, works)
    if best < group.size:
        any(search.accepts(v) for v in variants(search, case, {group: best}, 2))


def steps(search: Search) -> Iterator[tuple[str, Case]]:
    """Each class one smaller, cropped from either end."""
    case = search.case
    for classes in couplings(case)[:1]:
        for group in classes:
            if group.size > group.low:
                for variant in variants(search, case, {group: group.size - 1}, None):
                    yield f"{group.name} from {group.size} to {group.size - 1}", variant


def variants(
    search: Search, case: Case, sizes: Mapping[Class, int], windows: int | None
) -> Iterator[Case]:
    """The case at the given sizes, cropped in up to `windows` ways."""
    shapes, nodes = apply(case, sizes)
    graph = msgspec.structs.replace(case.graph, nodes=nodes)
    seen = []
    for corner in _corners(case, search.worst)[:windows]:
        feeds = {}
        for name in case.graph.inputs:
            tensor, shape = case.feeds[name], shapes[name]
            start = tuple(min(c, max(0, n - m)) for c, n, m in zip(corner[name], tensor.shape, shape))
            feeds[name] = resize(tensor, shape, start)
        if feeds in seen:
            continue
        seen.append(feeds)
        made = msgspec.structs.replace(case, graph=graph, feeds=feeds)
        yield made
        clipped = _clipped(case, made)
        if clipped is not None:
            yield clipped


def _corners(case: Case, worst: tuple[int, ...]) -> list[dict[str, tuple[int, ...]]]:
    """First indices to keep, per feed: at the worst element, at the extreme values, at the start, at the end."""
    near, extreme, start, end = {}, {}, {}, {}
    for name in case.graph.inputs:
        tensor = case.feeds[name]
        rank = len(tensor.shape)
        tail = worst[-rank:] if rank and len(worst) >= rank else (0,) * (rank - len(worst)) + tuple(worst)
        near[name] = tuple(i if i < n else 0 for i, n in zip(tail, tensor.shape))
        extreme[name] = _extreme(tensor)
        start[name] = (0,) * rank
        end[name] = tensor.shape
    return [near, extreme, start, end]


def _extreme(tensor: Tensor) -> tuple[int, ...]:
    """Where a NaN, an infinity or else the largest magnitude stands."""
    values = np.abs(tensor.values)
    if not values.size:
        return (0,) * values.ndim
    values = np.where(np.isnan(values), np.inf, values)
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(values)), values.shape))


def _clipped(before: Case, case: Case) -> Case | None:
    """Integer feeds pulled into the new sizes, because they may be indices; None if there are none to pull."""
    sizes = [n for name in case.graph.inputs for n in case.feeds[name].shape if case.feeds[name].dtype.inexact]
    top = max(0, min(sizes, default=1) - 1)
    feeds = dict(case.feeds)
    for name, tensor in case.feeds.items():
        if tensor.dtype.kind in ("int", "uint") and tensor.size and int(tensor.base.max()) > top:
            feeds[name] = tensor.with_base(np.minimum(tensor.base, top))
    return msgspec.structs.replace(case, feeds=feeds) if feeds != case.feeds else None
