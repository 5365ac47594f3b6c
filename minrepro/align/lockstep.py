"""Both models run at once, seam by seam: the reference leads, and every follower is put right at each seam.

At the entry of a unit a follower's own inputs are compared with the reference's and then replaced by them; at its exit
the same happens to its outputs. So each difference was made where it is seen: at an exit by a unit without parts or by
what a unit does after its last part, at an entry by the surrounding unit's own code. One forward of each side is
enough, and a value lives only until every follower has passed its seam.

Followers: the candidate (forced), and the candidate as it is (free, to show what is passed on). Where a verdict needs
float64, local followers run one call of one unit beside the others: copies of it on both sides, and the reference's on
slightly moved values.
"""

from __future__ import annotations

import contextlib
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Callable, Collection, Mapping, Optional

import msgspec

from minrepro.align.draws import Draws
from minrepro.align.pairing import Pairing
from minrepro.align.seams import NUDGES, Key, Opened, Record, Seam, disturbed, matched
from minrepro.align.seat import Died, Seat
from minrepro.capture import messages
from minrepro.errors import CaptureError
from minrepro.ir.tensor import Tensor

WAITING = 2
"""Seams that may wait for their verdict while the models go on: each holds its values."""
Order = tuple[Optional[tuple[Optional[Tensor], ...]]]
"""What a follower is told: the tensors that replace its own, or None to go on with them."""


class Follower(msgspec.Struct):
    """One forward that follows the reference.

    Attributes:
        role: name of the values that it contributes.
        seat: the side it runs on.
        candidate: True for the port, False for another run of the reference.
        forced: put right at each seam.
        scope: the call that a local follower runs, in float64; None for one that runs the whole model.
        title: name of its run.
        entered: call that it is in -> for each input of the reference, which of its own stands for it.
    """

    role: str
    seat: Seat
    candidate: bool
    forced: bool = True
    scope: Key | None = None
    title: str = ""
    event: dict[str, Any] = {}
    over: bool = False
    failure: dict[str, Any] | None = None
    extra: list[str] = []
    entered: dict[Key, list[int | None]] = {}

    def within(self, key: Key, stack: tuple[Key, ...]) -> bool:
        """True if it comes by a call, given the calls around that one."""
        return self.scope is None or self.scope == key or self.scope in stack


class Lockstep:
    """One pass; see the module's text.

    Args:
        leader, candidate: both sides.
        pairing: the units.
        scopes: calls that get local followers.
        seen: called with each seam once every follower has contributed, one after the other, in a thread of its own.
        draws: the random draws of the reference, and who took them.
        progress: called with (done, total, what).
        left: called when both sides have left the same call.
        narrow: no float64 copies of the port.
        opened: units that are not put right.
        disturbed: those of them in which the candidate goes on with other values, to show whether they matter.
        free: run the port as it is, too; without that only what is made shows, not what is passed on.
    """

    def __init__(
        self, leader: Seat, candidate: Seat, pairing: Pairing, scopes: Collection[Key], seen: Callable[[Seam], None],
        draws: Draws, progress: Callable[[int, int, str], None] = lambda done, total, what: None,
        left: Callable[[Record], None] | None = None, narrow: bool = False, opened: Opened = {},
        disturbed: Collection[int] = (), free: bool = True,
    ):
        self.leader, self.port, self.units, self.seen, self.draws = leader, candidate, pairing.units, seen, draws
        self.progress, self.scopes = progress, frozenset(scopes)
        self.candidate = Follower("candidate", candidate, True, title="candidate")
        self.free = Follower("free", candidate, True, forced=False, title="free")
        self.followers = [self.candidate, self.free] if free else [self.candidate]
        self.failures: list[tuple[str, dict[str, Any]]] = []
        self.started, self.left, self.narrow = 0, left, narrow
        self.opened, self.disturbed = opened, disturbed
        self.beside, self.judge = ThreadPoolExecutor(1), ThreadPoolExecutor(1)
        self.judged: list[Future[None]] = []
        self.numbers = {
            False: {unit.reference: number for number, unit in enumerate(self.units)},
            True: {unit.candidate: number for number, unit in enumerate(self.units)},
        }
        self.records: dict[Key, Record] = {}
        self.seams: dict[tuple[Key, str], Seam] = {}
        self.places: dict[str, str] = {}
        self.done = False
        self.called: dict[int, int] = {}
        self.parts: dict[int, int] = {}

    def run(self) -> None:
        """Run all forwards to their end.

        Raises:
            CaptureError: if the reference's own forward raises.
        """
        event = self._started(self.leader, "leader")
        try:
            for follower in self.followers:
                follower.event = self._started(follower.seat, follower.title, forced=follower.forced)
            while True:
                self._lead(event)
                ahead = self._ahead()
                for follower in list(self.followers):
                    self._advance(follower)
                if self.done:
                    break
                event = ahead.result() if ahead is not None else self._gone(self.leader, "leader")
            self._judged(0)
        except BaseException as error:
            self.beside.shutdown(wait=True)  # the reference may be on its way to the next seam
            if isinstance(error, Died):
                self._abandon(error.seat)
            self.judge.shutdown(wait=True)
            self.stop()
            raise

    def _abandon(self, seat: Seat) -> None:
        """Show what is complete without a side that has died."""
        for follower in self.followers:
            follower.over = follower.over or follower.seat is seat
        for follower in list(self.followers):
            self._advance(follower)
        self._settle()

    def _ahead(self) -> Future[dict[str, Any]] | None:
        """Let the reference go on beside the followers, where nobody else needs its process."""
        if self.done or self.scopes or self.left is not None:
            return None
        return self.beside.submit(self._gone, self.leader, "leader")

    def stop(self) -> None:
        """End all forwards; until then the frames of one that raised can be looked at."""
        for seat, title in [(self.leader, "leader"), *((f.seat, f.title) for f in self.followers)]:
            if seat.side.worker.ready:
                with contextlib.suppress(Died):  # a process that has died must not hide how
                    seat.ask("stop", title=title)

    def _started(self, seat: Seat, title: str, **how: Any) -> dict[str, Any]:
        event, values = seat.exchange("start", {}, title=title, **how)
        self.places[title] = _place(event)
        return {**event, "tensors": [values[value["var"]] for value in event.get("values", ())]}

    def _gone(self, seat: Seat, title: str, wanted: tuple[Tensor | None, ...] | None = None) -> dict[str, Any]:
        """Let a forward go on, with these tensors in place of its own where there are some."""
        names = None if wanted is None else [None if t is None else f"{title}_put{i}" for i, t in enumerate(wanted)]
        put = {name: t for name, t in zip(names or (), wanted or ()) if name is not None and t is not None}
        seat.place = self.places[title]
        event, values = seat.exchange("go", put, title=title, replace=names)
        self.places[title] = _place(event)
        return {**event, "tensors": [values[value["var"]] for value in event.get("values", ())]}

    # -- the reference -------------------------------------------------------------------------------------------

    def _lead(self, event: Mapping[str, Any]) -> None:
        if event["kind"] == "raised":
            raise CaptureError(messages.message(self.leader.title, {"kind": "raised", "stage": "forward", **event["blame"]}))
        if event["kind"] == "done":
            self.done = True
            return
        self._hidden(event, False)
        tensors = tuple(event["tensors"])
        labels = tuple(value["label"] for value in event["values"])
        if event["kind"] == "draw":
            self.draws.made(self._stack(event, False), event["distribution"], tensors[0], tuple(event["line"]))
            return
        key = (self.numbers[False][event["unit"]], event["call"])
        if event["kind"] == "enter":
            stack = self._stack(event, False)
            self.records[key] = Record(*key, stack, tuple(event["line"]), labels, tensors)
            self.called[key[0]] = self.called.get(key[0], 0) + 1
            for above in stack:
                self.parts[above[0]] = self.parts.get(above[0], 0) + 1
            self.progress(len(self.called), len(self.units), event["unit"])
            if self._opens(key, stack):
                for nudge, role in enumerate(("truth", *NUDGES)):
                    self._local(role, self.leader, False, key, event["unit"], "leader", nudge)
        else:
            record = self.records[key]
            returned = len(tensors) - len(event["written"])
            record.outputs, record.output_labels = tensors[:returned], labels[:returned]
            record.written = dict(zip(event["written"], tensors[returned:]))

    def _hidden(self, event: Mapping[str, Any], candidate: bool) -> None:
        """Note the unit that has drawn inside of a kernel since the seam before."""
        above = event.get("stack") or [[None]]
        name = event["unit"] if event["kind"] == "exit" else above[-1][0]
        if event.get("hidden") and name is not None:
            self.draws.hide(candidate, self.numbers[candidate][name])

    def _stack(self, event: Mapping[str, Any], candidate: bool) -> tuple[Key, ...]:
        return tuple((self.numbers[candidate][name], call) for name, call in event["stack"])

    # -- local followers ------------------------------------------------------------------------------------------

    def _opens(self, key: Key, stack: tuple[Key, ...]) -> bool:
        """True if a call gets local followers: it is asked for, and no call around it has them already."""
        return key in self.scopes and not self.scopes.intersection(stack)

    def _local(self, role: str, seat: Seat, candidate: bool, key: Key, unit: str, of: str, nudge: int = 0) -> None:
        """Start a local follower of the call whose entry the run `of` has just shown."""
        self.started += 1
        one = Follower(role, seat, candidate, scope=key, title=f"{role}_{self.started}")
        one.event = self._started(seat, one.title, unit=unit, of=of, nudge=nudge)
        self.followers.append(one)

    # -- the followers -------------------------------------------------------------------------------------------

    def _advance(self, follower: Follower) -> None:
        """Let a follower run until it needs what the reference has not done yet."""
        while not follower.over:
            event = follower.event
            kind = event["kind"]
            if kind in ("done", "raised"):
                follower.over = True
                follower.failure = event if kind == "raised" else None
                if follower.scope is not None:
                    self._dismiss(follower)
                self._settle()
                return
            if follower is self.candidate:
                self._hidden(event, True)
            order = self._draw(follower, event) if kind == "draw" else self._meet(follower, event)
            if order is None:
                return
            follower.event = self._gone(follower.seat, follower.title, order[0])

    def _dismiss(self, follower: Follower) -> None:
        """A local follower has done its call."""
        if follower.failure is not None:
            self.failures.append((follower.role, follower.failure))
        self.followers.remove(follower)
        follower.seat.ask("stop", title=follower.title)

    def _draw(self, follower: Follower, event: Mapping[str, Any]) -> Order | None:
        """What to do at a random draw: take the reference's value if one matches."""
        own = event["tensors"][0]
        stack = self._stack(event, follower.candidate)
        over = self.done or (bool(stack) and self._over(stack[-1]))
        line = tuple(event["line"])
        value = self.draws.take(follower.role, follower.title, stack, event["distribution"], own.shape, line, over)
        if value == "wait":
            return None
        return ((value,),) if isinstance(value, Tensor) else (None,)

    def _over(self, key: Key) -> bool:
        record = self.records.get(key)
        return record is None or record.outputs is not None

    def _meet(self, follower: Follower, event: Mapping[str, Any]) -> Order | None:
        """Order at the entry or exit of a unit; None if the reference is not there yet."""
        key = (self.numbers[follower.candidate][event["unit"]], event["call"])
        record = self.records.get(key)
        entering = event["kind"] == "enter"
        if record is None or (not entering and record.outputs is None):
            if not self.done and not (record is None and (self._beyond(key) or self._extra(follower, event))):
                return None
            if entering and event["unit"] not in follower.extra:
                follower.extra.append(event["unit"])
            return (None,)
        due = record.inputs if entering else record.outputs
        assert due is not None
        labels = record.labels if entering else record.output_labels
        if not follower.forced and entering:
            return (None,)
        own = event["tensors"][: len(event["tensors"]) - len(event.get("written", ()))]
        if entering and follower is self.candidate and not self.narrow and self._opens(key, record.stack):
            self._local("wide", self.port, True, key, event["unit"], "candidate")
        matches = matched(own, [v["label"] for v in event["values"]], due, labels, entering)
        apart = follower.candidate and ("in" if entering else "out") in self.opened.get(key[0], ())
        if entering:
            follower.entered[key] = [] if apart else matches
        after, surplus = self._written(follower, key, record, event)
        self._contribute(follower, record, entering, own, matches, event, surplus)
        if not entering:
            if self.left is not None and follower is self.candidate:
                self.left(record)
            record.passed.add(follower.title)
            self._free()
        if not follower.forced:
            return (None,)
        if apart:
            return self._disturbed(follower, key[0], entering, own, after)
        wanted: list[Tensor | None] = [None] * len(own)
        for theirs, mine in enumerate(matches):
            if mine is not None:
                wanted[mine] = due[theirs]
        return ((*wanted, *after),)

    def _disturbed(self, follower: Follower, unit: int, entering: bool, own: list[Tensor], after: list) -> Order:
        """The order for a unit that is left to itself."""
        last = not entering or "out" not in self.opened[unit]
        asked = unit in self.disturbed and follower is self.candidate and last
        return ((*map(disturbed, own), *([None] * len(after))),) if asked else (None,)

    def _written(self, follower: Follower, key: Key, record: Record, event: Mapping[str, Any]) -> tuple[list, list]:
        """What a unit wrote into its inputs.

        Returns:
            What is due in their place; and (label, due, written) of those that only the port writes to. Where only the
            reference does, the next seam shows it if anybody uses the value.
        """
        after: list[Tensor | None] = []
        surplus = []
        places = follower.entered.pop(key, []) if event["kind"] == "exit" and follower.forced else []
        written = event.get("written", ())
        for place, tensor in zip(written, event["tensors"][len(event["tensors"]) - len(written):]):
            known = places.index(place) if place in places else None
            after.append(None if known is None else record.written.get(known, record.inputs[known]))
            if known is not None and known not in record.written and follower is self.candidate:
                surplus.append((record.labels[known], record.inputs[known], tensor))
        return after, surplus

    def _beyond(self, key: Key) -> bool:
        """True if the reference was there and everybody passed: a call that only this follower makes once more."""
        return key[1] < self.called.get(key[0], 0)

    def _extra(self, follower: Follower, event: Mapping[str, Any]) -> bool:
        """True if the reference has left the surrounding unit without this call, or had when it was entered."""
        if event["kind"] == "exit":
            return event["unit"] in follower.extra
        stack = self._stack(event, follower.candidate)
        return bool(stack) and self._over(stack[-1])

    def _contribute(self, follower, record: Record, entering: bool, own, matches, event, surplus) -> None:
        """Add a follower's values to the seam, and show it once it is complete."""
        name = ((record.unit, record.call), "in" if entering else "out")
        seam = self.seams.get(name)
        if seam is None:
            maker, call = record.unit, record.call
            if entering:
                maker, call = record.stack[-1] if record.stack else (-1, 0)
            opened = name[1] in self.opened.get(record.unit, ())
            seam = self.seams[name] = Seam(
                record.unit, record.call, name[1], maker, record.labels if entering else record.output_labels,
                (record.inputs if entering else record.outputs) or (), {}, {"reference": record.line},
                maker_call=call, inputs={} if entering else dict(zip(record.labels, record.inputs)), opened=opened,
            )
        seam.others[follower.role] = tuple(None if mine is None else own[mine] for mine in matches)
        if follower.candidate:
            seam.lines[follower.role] = tuple(event["line"])
            if follower is self.candidate:
                seam.spans = tuple((file, first, last) for file, first, last in event["spans"])
                seam.overwritten = tuple(surplus)
            seam.surplus = len(own) - sum(mine is not None for mine in matches)
        self._settle()

    def _settle(self) -> None:
        """Show the seams to which everybody who is still running has contributed."""
        for name, seam in list(self.seams.items()):
            stack = self.records[name[0]].stack if name[0] in self.records else ()
            awaited = {
                f.role for f in self.followers
                if not f.over and (f.forced or seam.part == "out") and f.within(name[0], stack)
            }
            if awaited <= set(seam.others):
                del self.seams[name]
                self.judged.append(self.judge.submit(self.seen, seam))
        self._judged(WAITING)

    def _judged(self, waiting: int) -> None:
        """Wait until no more seams than this are without a verdict: the models go on while the last ones are looked at."""
        while len(self.judged) > waiting:
            self.judged.pop(0).result()

    def _free(self) -> None:
        """Forget the calls that everybody has passed, and what was called inside them."""
        for key, record in list(self.records.items()):
            running = {f.title for f in self.followers if not f.over and f.within(key, record.stack)}
            if record.outputs is not None and running <= record.passed:
                self.records.pop(key, None)  # it may have gone with the call around it
                for inner, part in list(self.records.items()):
                    if key in part.stack:
                        del self.records[inner]


def _place(event: Mapping[str, Any]) -> str:
    """The seam that an event shows, for the message of a process that does not come to the next one."""
    unit = event.get("unit") or (event["stack"][-1][0] if event.get("stack") else "")
    kinds = {"enter": "the entry of", "exit": "the exit of", "draw": "a random draw in"}
    return f"{kinds.get(event['kind'], event['kind'])} {unit or '(root)'}"
