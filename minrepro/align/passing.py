"""Passes over both models: each runs them seam by seam to the end, or as far as the port survives, and judges what it sees."""

from __future__ import annotations

import functools
import math
from typing import Any, Collection, Mapping, Sequence

import msgspec
import numpy as np

from minrepro.align import findings
from minrepro.align.calls import Found, reduce_call
from minrepro.align.deaths import Deaths
from minrepro.align.draws import Draws
from minrepro.align.judging import errors, judged, overwritten, screen
from minrepro.align.lockstep import Lockstep
from minrepro.align.pairing import Module, Pairing
from minrepro.align.seams import Key, Opened, Record, Seam
from minrepro.align.seat import Died, Progress, Seat
from minrepro.align.training import Gradients
from minrepro.compare.magnitude import rms
from minrepro.compare.pair import Pair
from minrepro.ir.tensor import Tensor

SMALL = 1 << 22
"""Elements of state up to which float64 copies of both models run along from the start; larger models are screened
first, so that a clean one costs one forward more on one side and nothing else."""
ADDED = 128.0
"""Roundings that a whole model may add up: 7 bits; the deepest of the zoo loses 5."""
ROOT = (0, 0)
"""The first call of the whole model."""


class Passed(msgspec.Struct):
    """What a pass saw.

    Attributes:
        table: a row per unit.
        draws: the reference's draws, and who took them.
        failure: the event with which the port's forward raised or its process ended, or None.
        stuck: it raised where it was put right.
        forced: only there, not when it ran by itself.
        seams: tensors compared.
        notes: what was not compared, and why.
        gradients: of single calls, if they were asked for.
        call: the call in which the port failed, reduced.
        whole: the port, when it ran by itself, returned what the reference does; None if that was not seen.
    """

    table: findings.Table
    draws: Draws
    failure: dict[str, Any] | None = None
    stuck: bool = False
    forced: bool = False
    seams: int = 0
    notes: list[str] = []
    gradients: Gradients | None = None
    call: Found | None = None
    whole: bool | None = None


class Passes:
    """Runs passes.

    Args:
        pair: both sides' workers.
        seats: both sides' sessions, with the models loaded and watched.
        pairing: of the modules.
        trees: path -> module of each side.
        deaths: looks into the end of the port's process.
        injected: give the reference's random draws to the port.
        turned: keys of the port's parameters that lie the other way round than the reference's; None to leave gradients out.
        progress: called with (done, total, what).
    """

    def __init__(
        self, pair: Pair, seats: tuple[Seat, Seat], pairing: Pairing, trees: tuple[dict[str, Module], dict[str, Module]],
        deaths: Deaths, injected: bool, turned: Collection[str] | None, progress: Progress,
    ):
        self.pair, (self.reference, self.candidate), self.pairing, self.trees = pair, seats, pairing, trees
        self.deaths, self.injected, self.turned, self.progress = deaths, injected, turned, progress
        self.small = sum(math.prod(shape) for module in trees[0].values() for _, shape in module.own) <= SMALL

    def full(self, opened: Opened = {}) -> Passed:
        """One pass if the model is small; else a second one with float64 copies of what the screen could not excuse.

        Args:
            opened: see `Lockstep`.
        """
        if self.small:
            return self._survived({ROOT}, None, opened)
        suspicious: set[Key] = set()
        found = self._survived((), suspicious, opened)
        return self._survived(suspicious, None, opened) if suspicious else found

    def probe(self, opened: Opened, disturbed: Collection[int] = ()) -> Passed:
        """One pass that only tells gross differences: no float64, no gradients, nothing of what is passed on."""
        return self._survived((), None, opened, probing=True, disturbed=disturbed)

    def _survived(self, scopes: Collection[Key], suspicious: set[Key] | None, opened: Opened, **how: Any) -> Passed:
        """One lockstep, or as much of it as the port survives; `suspicious` takes the calls that the screen cannot excuse."""
        while True:
            one = _Pass(self, opened, suspicious, **how)
            try:
                return one.run(scopes)
            except Died as died:
                if died.seat is not self.candidate:
                    raise
                failure = self.deaths.met(died, functools.partial(_Pass(self, opened, None, **how).run, scopes))
            if failure is not None:
                if suspicious is not None:
                    suspicious.clear()  # there is no second pass
                return msgspec.structs.replace(one.found, failure=failure, call=self.deaths.call)

    def length(self, number: int, tensors: Sequence[Any]) -> int:
        """Terms that one element of a unit's results may add up: the fan-in of its weights, or its longest axis."""
        module = self.trees[0][self.pairing.units[number].path] if number >= 0 else None
        axes = [extent for tensor in tensors for extent in tensor.shape]
        fans = [math.prod(shape) // shape[0] for _, shape in (module.own if module else ()) if len(shape) > 1 and shape[0]]
        return max([1, *axes, *fans])


class _Pass:
    """One lockstep to its end; see `Passes`."""

    def __init__(
        self, passes: Passes, opened: Opened, suspicious: set[Key] | None, probing: bool = False,
        disturbed: Collection[int] = (),
    ):
        self.all, self.opened, self.suspicious = passes, opened, suspicious
        self.probing, self.disturbed = probing, disturbed
        self.surplus: dict[int, int] = {}
        turned = passes.turned
        gradients = None
        if turned is not None and not probing:
            gradients = Gradients(
                passes.reference, passes.candidate, lambda unit, name: f"{unit}.{name}".strip(".") in turned)
        table = findings.Table(passes.pairing, *passes.trees)
        self.found = Passed(table, Draws(passes.injected), gradients=gradients)

    def run(self, scopes: Collection[Key]) -> Passed:
        """Run it."""
        one = self.all
        self.lockstep = lockstep = Lockstep(
            one.reference, one.candidate, one.pairing, scopes, self._seen, self.found.draws, one.progress,
            self._left if self.found.gradients is not None else None, one.deaths.narrow, self.opened, self.disturbed,
            not self.probing,
        )
        lockstep.run()
        alone, beside = lockstep.free.failure, lockstep.candidate.failure
        self.found.failure, self.found.stuck = beside or alone, beside is not None
        self.found.forced = self.found.stuck and alone is None
        if self.found.failure is not None and not self.probing and not self.found.forced:
            role = "candidate" if beside is not None else "free"
            self.found.call = reduce_call(
                one.pair.reference, one.pair.candidate, one.candidate, role, one.pair.folder, one.progress)
        lockstep.stop()
        self.found.notes = self._notes()
        return self.found

    def _seen(self, seam: Seam) -> None:
        """Judge a seam."""
        found, table = self.found, self.found.table
        if seam.unit == ROOT[0] and seam.part == "out" and "free" in seam.others:
            found.whole = all(_close(x, y) for x, y in zip(seam.reference, seam.others["free"]))
        if "candidate" not in seam.others:
            return  # the port raised before it came here
        found.seams += len(seam.labels)
        if seam.part == "out" and seam.surplus > 0:
            self.surplus[seam.unit] = seam.surplus
        length = self.all.length(seam.maker, seam.reference)
        for position in range(len(seam.labels)):
            y = seam.others["candidate"][position]
            asked = self.suspicious is not None and seam.maker >= 0 and not seam.opened
            if asked and not screen(seam.reference[position], y, length):
                self.suspicious.add((seam.maker, seam.maker_call))
            table.add(judged(seam, position, length), _seen(seam, position), seam.opened)
        for told in overwritten(seam):
            table.add(told, None)

    def _left(self, record: Record) -> None:
        """Compare the gradients of a call that both sides have left."""
        one, unit = self.all, self.all.pairing.units[record.unit]
        assert self.found.gradients is not None
        draws = self.found.draws
        inner = any((record.unit, record.call) in draw.stack for draw in draws.known) or any(
            number == record.unit or findings.below(one.pairing.units[number].reference, unit.reference)
            for number in draws.hidden[False] | draws.hidden[True])
        alone = one.small or not self.lockstep.parts.get(record.unit)
        asked = alone and not inner and "::" not in unit.reference and record.unit not in self.opened
        if asked and not one.deaths.skips(unit.candidate):
            fan = one.length(record.unit, (*record.inputs, *(record.outputs or ())))
            self.found.gradients.check(record.unit, unit, record.call, fan)

    def _notes(self) -> list[str]:
        """What this pass did not compare."""
        lockstep, units, gradients = self.lockstep, self.all.pairing.units, self.found.gradients
        notes = list(dict.fromkeys(
            _narrow(role, told["blame"]) for role, told in lockstep.failures if self.found.failure is None))
        for number, count in list(self.surplus.items())[:6]:
            name = units[number].candidate or "(root)"
            notes.append(f"{name}: the port returns {count} more tensor(s) than the reference; they are not compared")
        notes += ["no float64 run of the port: its process dies in it"] if self.all.deaths.narrow else ()
        notes += dict.fromkeys(gradients.failed) if gradients is not None else ()
        if lockstep.candidate.extra:
            notes.append("called by the port only: " + ", ".join(lockstep.candidate.extra[:6]))
        return notes


def _close(x: Tensor, y: Tensor | None) -> bool:
    """True for values that agree but for what rounding adds up to in a whole model."""
    if y is None or y.shape != x.shape or y.dtype != x.dtype:
        return False
    if not x.dtype.inexact:
        return bool(np.array_equal(x.view, y.view))
    with np.errstate(all="ignore"):
        limit = ADDED * x.dtype.roundoff * (np.abs(x.values) + rms(x.values))
        return bool(np.all((np.abs(x.values - y.values) <= limit) | (x.values == y.values)))


def _narrow(role: str, blame: Mapping[str, Any]) -> str:
    """The sentence for a float64 copy that cannot run, and what that means for the verdict."""
    side = "port" if role == "wide" else "reference"
    told = blame["message"].strip().partition("\n")[0] or blame["error"]
    return f"no float64 run of the {side}, so that what it would judge is judged by size, to half of the digits: {told}"


def _seen(seam: Seam, position: int) -> float | None:
    """The largest error of this tensor in the port's own run."""
    free = seam.others.get("free")
    if free is None or position >= len(free) or free[position] is None:
        return None
    return errors(seam.reference[position], free[position])[0]
