"""Make sizes small: all classes at 1, at 2, at 3; then the few that must stay large, galloping up from the minimum.

Size-1 special paths often hide a bug, hence the second and third level (design note on reduction, 6.2). Values are
kept by cropping: first around the worst element of the output, then around extreme values.
"""

from __future__ import annotations

from typing import Iterable, Iterator, Mapping

import msgspec
import numpy as np

from minrepro.compare.magnitude import rms
from minrepro.ir.case import Case
from minrepro.ir.tensor import Tensor
from minrepro.shrink.coupling import Class, apply, couplings
from minrepro.shrink.resize import resize
from minrepro.shrink.state import Search

ORDER = 20
LEVELS = (1, 2, 3)


def run(search: Search) -> None:
    """Lower every class of coupled sizes as far as the bug allows, then single axes to 1 where they may broadcast."""
    for position in range(len(couplings(search.case))):
        options = couplings(search.case)
        if position < len(options) and _lower(search, position):
            break
    while any(search.accepts(variant) for _, variant in _alone(search)):
        pass


def _lower(search: Search, position: int) -> bool:
    """Work with one way of coupling; returns True if it led anywhere."""
    before = search.case
    classes = couplings(before)[position]
    if not classes:
        return False
    known = 0 if search.first and _all_at_once(search, before, classes) else LEVELS[0]
    if search.first and search.case is before:
        stay = _keep_few(search, before, classes)
        # If one class decides alone, it was already asked at every level.
        known = LEVELS[-1] if len(stay) == 1 else LEVELS[0]
    for name in [c.name for c in reversed(_cheap_first(classes))]:
        _gallop(search, position, name, known)
    return search.case is not before


def _all_at_once(search: Search, case: Case, classes: tuple[Class, ...]) -> bool:
    """All classes at the first level at which the bug shows; False if it shows at none."""
    for level in LEVELS:
        sizes = {c: max(c.low, min(level, c.size)) for c in classes}
        if any(search.accepts(v) for v in variants(search, case, sizes, 2 if level == 1 else 1)):
            return True
    return False


def _cheap_first(classes: tuple[Class, ...]) -> list[Class]:
    """Classes that few tensors share first: where the bug needs one of several, that one costs the fewest elements."""
    return sorted(classes, key=lambda c: len(c.axes))


def _keep_few(search: Search, case: Case, classes: tuple[Class, ...]) -> list[Class]:
    """Find the classes that must stay as they are while the others go to the minimum."""

    def lowered(stay: list[Class]) -> dict[Class, int]:
        return {c: c.low for c in classes if c not in stay and c.size > c.low}

    stay = search.essential(
        _cheap_first(classes), lambda stay: any(search.interesting(v) for v in variants(search, case, lowered(stay), 1))
    )
    any(search.accepts(v) for v in variants(search, case, lowered(stay), 1))
    return stay


def _gallop(search: Search, position: int, name: str, known: int) -> None:
    """Lower one class alone, from above the size that is known to be too small."""
    case = search.case
    options = couplings(case)
    group = next((c for c in options[position] if c.name == name), None) if position < len(options) else None
    if group is None or group.size <= group.low:
        return

    def works(size: int) -> bool:
        return any(search.interesting(v) for v in variants(search, case, {group: size}, 1))

    if known and any(search.accepts(v) for v in variants(search, case, {group: group.low}, 2)):
        return
    best = search.smallest(min(max(group.low, known + 1), group.size), group.size, works)
    if best < group.size:
        any(search.accepts(v) for v in variants(search, case, {group: best}, 1))


def steps(search: Search) -> Iterator[tuple[str, Case]]:
    """Each class one smaller, cropped around the worst element and around extreme values; single axes to 1."""
    case = search.case
    for classes in couplings(case)[:1]:
        for group in classes:
            if group.size > group.low:
                for variant in variants(search, case, {group: group.size - 1}, 2):
                    yield f"{group.name} from {group.size} to {group.size - 1}", variant
    yield from _alone(search)


def _alone(search: Search) -> Iterator[tuple[str, Case]]:
    """One axis to 1 while those of the same class stay: it may broadcast."""
    case = search.case
    options = couplings(case)
    shared = {axis for group in options[0] if len(group.axes) > 1 for axis in group.axes}
    for feed, axis in sorted(shared):
        size = case.feeds[feed].shape[axis]
        alone = Class(f"{feed}[{axis}]", size, ((feed, axis),))
        for variant in variants(search, case, {alone: alone.low}, 1):
            yield f"{alone.name} from {size} to {alone.low}", variant


def variants(search: Search, case: Case, sizes: Mapping[Class, int], windows: int) -> Iterator[Case]:
    """The case at the given sizes, cropped in up to `windows` ways; axes of one class are cropped alike."""
    shapes, nodes = apply(case, sizes)
    graph = msgspec.structs.replace(case.graph, nodes=nodes)
    seen = []
    for corner in _corners(case, search.worst, sizes)[:windows]:
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
        if search.refused(made):
            yield from _clipped(search, made)


def _corners(case: Case, worst: tuple[int, ...], classes: Iterable[Class]) -> list[dict[str, list[int]]]:
    """First indices to keep, per feed: at the worst element of the output, at the extreme values."""
    near, extreme, rank = {}, {}, {}
    for number, name in enumerate(case.graph.inputs):
        tensor = case.feeds[name]
        axes = len(tensor.shape)
        tail = worst[-axes:] if axes and len(worst) >= axes else (0,) * (axes - len(worst)) + tuple(worst)
        near[name] = [i if i < n else 0 for i, n in zip(tail, tensor.shape)]
        extreme[name], prominence = _extreme(tensor)
        rank[name] = (-prominence, number)
    for group in (group for group in classes if group.axes):
        for corner, leader in ((near, group.axes[0]), (extreme, min(group.axes, key=lambda axis: rank[axis[0]]))):
            for feed, axis in group.axes:
                corner[feed][axis] = corner[leader[0]][leader[1]]
    return [near, extreme]


def _extreme(tensor: Tensor) -> tuple[list[int], float]:
    """Where a NaN, an infinity or else the largest magnitude stands, and how far it stands out of the tensor."""
    values = np.abs(tensor.values)
    if not values.size:
        return [0] * values.ndim, 0.0
    values = np.where(np.isnan(values), np.inf, values)
    place = [int(i) for i in np.unravel_index(int(np.argmax(values)), values.shape)]
    top = float(values[tuple(place)])
    if not np.isfinite(top):
        return place, float("inf")
    return place, top / max(rms(values), 1e-300)


def _clipped(search: Search, case: Case) -> Iterator[Case]:
    """Integer feeds pulled below each size, largest first, until the reference takes it: they may be indices."""
    sizes = {n for name in case.graph.inputs for n in case.feeds[name].shape if case.feeds[name].dtype.inexact}
    for size in sorted(sizes, reverse=True):
        feeds = dict(case.feeds)
        for name, tensor in case.feeds.items():
            if tensor.dtype.kind in ("int", "uint") and tensor.size and int(tensor.base.max()) >= size:
                feeds[name] = tensor.with_base(np.minimum(tensor.base, max(0, size - 1)))
        if feeds != case.feeds:
            variant = msgspec.structs.replace(case, feeds=feeds)
            yield variant
            if not search.refused(variant):
                return
