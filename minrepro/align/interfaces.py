"""Parts of a right port that are told something else than the reference's: padded before or inside, time first, a mask turned.

Putting such a part right at its entry makes it wrong. So where a part differs grossly it is left to itself, with what the
port's own code gives it after the last seam that is right: if what comes out is right then, or what the code around makes of
it, the port only has another interface there. That says nothing where nobody looks at the values, so that they are
disturbed once: what was right has to become wrong.
"""

from __future__ import annotations

from typing import Any, Collection, Iterable, Mapping

import msgspec

from minrepro.align.findings import Table, Wrong, below
from minrepro.align.passing import Passed, Passes
from minrepro.align.recovery import recovered
from minrepro.align.seams import Opened

TRIES = 10
"""Groups of parts that are tried in a small model."""
DEEP = 4
"""Parts within parts that are looked into."""
ROUNDS = 3
"""How often the search goes on from where the port comes with the parts that are known."""
MOST = 4
"""Kinds of parts, or of callers, that are looked at, and groups of them in a large model."""
ENTRY, EXIT, BOTH, NONE = frozenset({"in"}), frozenset({"out"}), frozenset({"in", "out"}), frozenset[str]()


def settled(passes: Passes) -> tuple[Passed, Opened]:
    """The pass whose verdicts count, and the parts with another interface in it."""
    first = passes.full()
    search = _Search(passes, first)
    opened = search.found()
    if opened:
        first = passes.full(opened)
    if first.forced and first.failure is not None:
        first.notes.append(_pinned(first.failure))
        first = msgspec.structs.replace(first, failure=None)
    first.table.unclear |= search.unclear
    first.table.lost |= search.lost
    return first, opened


class _Search:
    """Looks for parts with another interface.

    Args:
        passes: runs both models.
        first: the pass in which every part was put right.

    Attributes:
        lost: parts of a class that is left to itself from whose results the right values are not made.
        unclear: parts that err on both sides' inputs, or only hand theirs to such parts: no judges of what they are told.
    """

    def __init__(self, passes: Passes, first: Passed):
        self.passes, self.first, self.base = passes, first, first
        self.unclear: set[int] = set()
        self.lost: set[int] = set()
        self.freed: set[int] = set()
        self.made: Opened = {}

    def found(self) -> Opened:
        """The parts; empty if there are none."""
        for _ in range(ROUNDS):  # where a port failed, the next one is only seen once it goes on
            before = self.made
            self._round()
            if self.made == before and not (self.base.stuck and self.first.forced and self._freed()):
                break
            self.base = self._probe({})
        self.unclear |= self.freed & set(self.base.table.apart)
        return self._all(dict.fromkeys(self.unclear, ENTRY))

    def _round(self) -> None:
        """Add what can be found from here."""
        alone, opened = self._make_up(), {}
        for _ in range(DEEP):
            more = self._told(alone) - set(opened)
            if not more:
                break
            opened |= dict.fromkeys(more, ENTRY)
            alone = self._probe(opened)
        # Where a caller differed only because of its own inputs it is right now.
        told = {unit for unit in opened if unit in alone.table.apart and "in" in alone.table.apart[unit].parts}
        bad = self._bad(alone, told)
        fine = dict.fromkeys(told - bad, ENTRY)
        # In a large model, one that is right on the reference's inputs convicts its caller, unless all is right in the end.
        asked = {unit for unit in bad if self.passes.small or self.first.whole or self._errs(self.base, unit)}
        kept = {**fine, **self._absorbed(fine, dict.fromkeys(asked, BOTH))}
        kept = self._mattering(kept) if kept else kept
        self.unclear = self._both_ways(alone, bad) - set(kept)
        self.made = self._all(kept)

    def _freed(self) -> bool:
        """Leave to themselves all units that differ in shape, where the port cannot go on with what is put right there.

        Something else is wrong in such a port, so that nobody can tell whether they are.
        """
        one = self._probe(dict.fromkeys(range(1, len(self.passes.pairing.units)), BOTH))
        freed = {unit: frozenset(how.shaped) for unit, how in one.table.apart.items() if how.shaped and unit not in self.made}
        if one.stuck or not freed:
            return False
        self.made, self.freed = self._all(freed), set(freed)
        return True

    def _all(self, opened: Opened) -> Opened:
        """These, and the parts whose results the code around makes up for."""
        return {unit: opened.get(unit, NONE) | self.made.get(unit, NONE) for unit in {**opened, **self.made}}

    def _probe(self, opened: Opened, disturbed: Collection[int] = ()) -> Passed:
        return self.passes.probe(self._all(opened), disturbed)

    def _told(self, passed: Passed) -> set[int]:
        """The outermost units that are told something else, or in which a port fails that runs by itself."""
        units = {unit for (unit, part), how in passed.table.wrong.items() if part == "in" and how.gross and unit}
        if passed.stuck and passed.failure is not None and self.first.forced:
            names = [unit.candidate for unit in self.passes.pairing.units]
            units |= {names.index(name) for name, _ in passed.failure["stack"][-1:] if name}
        return units - _below(passed.table, units)

    def _bad(self, passed: Passed, told: Collection[int]) -> set[int]:
        """Those that err on what their callers tell them, or whose parts do."""
        found = {unit for unit in told if self._errs(passed, unit)}
        more = True
        while more:
            more = {above for unit in found for above in passed.table.callers.get(unit, ()) if above in told} - found
            found |= more
        return found

    def _both_ways(self, alone: Passed, bad: set[int]) -> set[int]:
        """Those that err on both sides' inputs, or only hand theirs to such parts."""
        found, more = {unit for unit in bad if self._errs(self.base, unit)}, True
        while more:
            parts = {unit: {part for part in bad if unit in alone.table.callers.get(part, ())} for unit in bad - found}
            more = {unit for unit, inner in parts.items() if inner and inner <= found and not self._errs(alone, unit)}
            found |= more
        return found

    def _errs(self, passed: Passed, unit: int) -> bool:
        """True if a unit's own code makes anything wrong of what it is given."""
        failed = passed.stuck and passed.failure is not None and any(
            self.passes.pairing.units[unit].candidate == name for name, _ in passed.failure["stack"][-1:])
        return failed or any(how.maker == unit for how in passed.table.wrong.values())

    def _absorbed(self, fine: Opened, rest: Opened) -> Opened:
        """Those of the rest whose results the code around them makes the right values of."""
        if not rest:
            return {}
        kept: dict[int, frozenset[str]] = {}
        waiting = [sorted(rest)]
        for _ in range(TRIES if self.passes.small else MOST):
            if not waiting:
                break
            units = waiting.pop(0)
            kept |= self._tried(fine, {**kept, **{unit: rest[unit] for unit in units}}, units)
            left = [unit for unit in units if unit not in kept]
            if len(left) > 1 or left and len(left) < len(units):  # one that is wrong keeps others from being seen
                kinds = self._kinds(left)
                half = (len(left) + 1) // 2
                waiting += kinds if len(kinds) > 1 else [left[:half], left[half:]] if len(left) > 1 else [left]
        callers = {maker for unit in set(rest) - set(kept) for maker in self.base.table.callers.get(unit, ())}
        for maker in sorted(callers)[:MOST]:
            kept |= self._chain(fine, kept, maker)
        return kept

    def _make_up(self) -> Passed:
        """Find parts that return something else for the same inputs, from which the code around comes to the right value.

        Returns:
            A pass in which they are left to themselves.
        """
        alone, asked = self.base, set[str]()
        for _ in range(DEEP):
            more = self._made_up(alone.table, asked)
            if not more:
                break
            self.made = {**self.made, **more}
            alone = self._probe({})
        return alone

    def _made_up(self, table: Table, asked: set[str]) -> dict[int, frozenset[str]]:
        """More of them. All of a class are treated alike: those from which the right value does not come are lost.

        Args:
            table: of a pass with those that are known.
            asked: classes that were asked about.
        """
        wrong = [unit for (unit, part), how in table.wrong.items() if part == "out" and how.gross and unit]
        back = [unit for unit in wrong if (unit, "in") not in table.wrong]
        found: dict[int, frozenset[str]] = {}
        for units in self._kinds(back):
            name = f"{self._kind(units[0])} in {[sorted(self._calling(unit)) for unit in units]}"
            if name in asked or len(asked) == MOST:
                continue
            asked.add(name)
            alike = [
                other for other in table.callers if self._kind(other) == self._kind(units[0])
                and self._calling(other) in [self._calling(unit) for unit in units]
            ]
            # The values that many modules step through take memory: those of a large model are as the first of them.
            makers = sorted({maker for unit in alike for maker in table.callers[unit]})[: None if self.passes.small else 1]
            tried = dict.fromkeys(alike, EXIT)
            right = recovered(self.passes, {**self.made, **found, **tried}, alike, makers)
            if right & set(back):
                found |= tried
                self.lost |= {unit for unit in set(alike) - right if table.callers[unit] <= set(makers)}
        return found

    def _calling(self, unit: int) -> set[tuple[str, ...]]:
        """The classes of the modules that call a unit."""
        return {self._kind(maker) for maker in self.base.table.callers.get(unit, ())}

    def _chain(self, fine: Opened, kept: Opened, maker: int) -> Opened:
        """Parts of one unit that hand each other what the reference's do not, if the unit makes the right thing of it.

        A part that only returns something else belongs to them if one that is told something else comes after it.
        """
        names = [unit.reference for unit in self.passes.pairing.units]
        inside = _below(self.base.table, [maker]) | {  # where the port has failed not all of them were come by
            unit for unit, name in enumerate(names) if unit != maker and below(name, names[maker].partition("::")[0])}
        one = self._probe({**fine, **kept, **dict.fromkeys(inside, BOTH)})
        if one.failure is not None or any(how.maker == maker or how.maker in inside for how in self._new(one)):
            return {}
        apart = {unit: how.parts for unit, how in one.table.apart.items() if unit in inside}
        last = max((place for place, parts in enumerate(apart.values()) if "in" in parts), default=-1)
        return {unit: frozenset(parts) for unit, parts in list(apart.items())[: last + 1] if unit not in fine}

    def _tried(self, fine: Opened, more: Opened, asked: Iterable[int]) -> dict[int, frozenset[str]]:
        """Leave more units to themselves; those asked about around which nothing is wrong then."""
        tried = {**fine, **more}
        inside = dict.fromkeys(_below(self.base.table, more), BOTH)  # what is put right there would mend the results
        tried = self._all({**inside, **tried})
        one = self._probe(tried)
        # One that is told the same there, because its caller was put right, has shown nothing.
        return {unit: more[unit] for unit in asked if unit in one.table.apart and self._right_around(one, tried, unit)}

    def _right_around(self, passed: Passed, opened: Opened, unit: int, base: Passed | None = None) -> bool:
        """True if the code that calls a unit makes nothing wrong that was right before."""
        makers = _around(passed.table, opened, unit)
        return passed.failure is None and not any(how.maker in makers for how in self._new(passed, base))

    def _new(self, passed: Passed, base: Passed | None = None) -> list[Wrong]:
        """What is wrong in a pass and was not before."""
        before = (base or self.base).table.wrong
        return [
            how for name, how in passed.table.wrong.items() if name not in before or how.labels - before[name].labels
        ]

    def _kinds(self, units: Iterable[int]) -> list[list[int]]:
        """Units of one class each, in the order of the model."""
        kinds: dict[tuple[str, ...], list[int]] = {}
        for unit in sorted(units):
            kinds.setdefault(self._kind(unit), []).append(unit)
        return list(kinds.values())

    def _kind(self, unit: int) -> tuple[str, ...]:
        """Classes, and the method where it is one."""
        row = self.first.table.rows[unit]
        return (*row.types, row.unit.partition("::")[2])

    def _mattering(self, kept: Opened) -> Opened:
        """Those whose values somebody looks at: the unit itself, a part that it hands them to, or the code around it."""
        steady, moved = self._probe(kept), self._probe(kept, set(kept))
        seen = {
            unit for unit, how in kept.items()
            if (self._errs(moved, unit) if how == ENTRY else not self._right_around(moved, self._all(kept), unit, steady))
        }
        callers, more = moved.table.callers, True
        while more:
            more = {above for unit in seen for above in callers.get(unit, ()) if kept.get(above) == ENTRY} - seen
            around = [callers.get(unit, set()) for unit in seen if "in" in kept[unit]]  # whoever hands it what it is told
            more |= {
                unit for unit, how in kept.items() if "out" in how and any(callers.get(unit, set()) & other for other in around)
            } - seen
            seen |= more
        return {unit: how for unit, how in kept.items() if unit in seen}


def _pinned(failure: Mapping[str, Any]) -> str:
    """The sentence for a port that runs by itself and raises on the reference's values: nobody may blame it for that."""
    told = failure["blame"]
    where = f"{told['file']}:{told['line']}" if told["file"] else "the framework"
    message = told["message"].strip().partition("\n")[0]
    return (f"not compared beyond {told['path'] or '(root)'} at {where}: the port runs by itself, but not on the reference's "
            f"values, for which it has another interface there ({told['error']}: {message})")


def _below(table: Table, units: Iterable[int]) -> set[int]:
    """All units that these call, and that those call."""
    found, more = set(units), True
    while more:
        more = {unit for unit, callers in table.callers.items() if callers & found} - found
        found |= more
    return found - set(units)


def _around(table: Table, opened: Opened, unit: int) -> Collection[int]:
    """The units that a unit's results pass through, up to the first that is put right."""
    found: set[int] = set()
    waiting = [unit]
    while waiting:
        for maker in table.callers.get(waiting.pop(), ()):
            if maker not in found:
                found.add(maker)
                waiting += [maker] if "out" in opened.get(maker, ()) else []
    return found
