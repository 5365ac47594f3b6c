"""Generic search: the few atoms that must stay, and the smallest size that still works.

Both are measured against the alternatives in the design note on reduction: QuickXplain needs about half the calls of
delta debugging when few atoms matter (sections 4.3 and 7), and galloping up from the minimum finds a threshold in
about four calls where bisection from above needs ten (section 6.2).
"""

from __future__ import annotations

from typing import Callable, Sequence, TypeVar

T = TypeVar("T")


def essential(atoms: Sequence[T], works: Callable[[list[T]], bool]) -> list[T]:
    """A minimal list of atoms that have to stay for `works` to hold, assuming that all together do.

    Args:
        atoms: likely interacting atoms next to each other.
        works: tells whether a subset (in the order of `atoms`) is enough.

    Returns:
        A 1-minimal subset if `works` is monotone; otherwise `atoms` itself if the result does not hold.

    Source: U. Junker, QuickXplain, AAAI 2004.
    """
    everything = list(atoms)
    if not everything or works([]):
        return []

    def ordered(subset: Sequence[int]) -> list[T]:
        return [everything[i] for i in sorted(subset)]

    def search(background: list[int], changed: bool, rest: list[int]) -> list[int]:
        if changed and works(ordered(background)):
            return []
        if len(rest) == 1:
            return rest
        half = len(rest) // 2
        left, right = rest[:half], rest[half:]
        second = search(background + left, bool(left), right)
        first = search(background + second, bool(second), left)
        return first + second

    found = search([], False, list(range(len(everything))))
    if works(ordered(found)):
        return ordered(found)
    return _sweep(everything, works)


def _sweep(atoms: list[T], works: Callable[[list[T]], bool]) -> list[T]:
    """One pass of removing chunks of halving size: the fallback where `works` is not monotone."""
    size = max(1, len(atoms) // 2)
    current = list(atoms)
    while size:
        start = len(current)
        while start > 0:
            start = max(0, start - size)
            shorter = current[:start] + current[start + size :]
            if len(shorter) < len(current) and works(shorter):
                current = shorter
        size //= 2
    return current


def smallest(low: int, high: int, works: Callable[[int], bool]) -> int:
    """The smallest size that works, found by galloping up from `low`.

    Args:
        low: smallest legal size.
        high: a size that is known to work.
        works: not assumed to be monotone: vector tails, tile edges and overflow depend on residues, so sizes next to
            powers of two and the residues of `high` are tried before giving up.

    Returns:
        A size that works while the one below it does not; `low` if that works.
    """
    failed, step, size = [low - 1], 1, low
    while size < high:
        if works(size):
            return _bisect(failed[-1], size, works)
        failed.append(size)
        size, step = size + step, step * 2
    ladder = {2**j + e for j in range(1, high.bit_length()) for e in (0, 1)} | {high % m for m in (4, 8, 16, 32, 64)}
    for size in sorted(ladder - set(failed)):
        if low < size < high and works(size):
            return _bisect(max(f for f in failed if f < size), size, works)
    return _bisect(failed[-1], high, works)


def _bisect(failed: int, working: int, works: Callable[[int], bool]) -> int:
    while working - failed > 1:
        middle = (failed + working) // 2
        if works(middle):
            working = middle
        else:
            failed = middle
    return working
