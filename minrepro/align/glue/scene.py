"""One call of the guilty unit on both sides, every part of it put right: what went in, what was computed, what differs."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from minrepro.align.draws import Draws
from minrepro.align.findings import Row
from minrepro.align.glue.trace import Node, Trace, close
from minrepro.align.lockstep import Lockstep
from minrepro.align.seams import Seam
from minrepro.align.seat import Seat


class Impossible(Exception):
    """A glue fault cannot be reduced; the text says why."""


class Scene(msgspec.Struct):
    """Both sides of one call.

    Attributes:
        reference, port: what each side computed.
        targets: the step of each side whose values should agree and do not; the port's may be what raised.
        place: what is wrong, for people: ``it gives head a wrong input``.
        error: class of the exception that the port raises, or "".
    """

    reference: Trace
    port: Trace
    targets: tuple[int, int]
    place: str
    error: str = ""


def record(alignment: Any, row: Row) -> Scene:
    """Run both models in lockstep once more, with the unit stepped through.

    Raises:
        Impossible: if a side's source is not understood, or nothing differs there any more.
    """
    seats = (alignment.reference, alignment.candidate)
    units = (row.unit, row.port)
    about = [seat.ask("follow", unit=unit) for seat, unit in zip(seats, units)]
    for found in about:
        if "why" in found:
            raise Impossible(found["why"])
    try:
        seam, failure = _lockstep(alignment, row)
        calls = [seat.ask("calls") for seat in seats]
        return _Reader(alignment, units, about, calls).scene(seam, failure)
    finally:
        for seat, unit in zip(seats, units):
            if seat.side.worker.ready:
                seat.ask("leave", unit=unit)


def _lockstep(alignment: Any, row: Row) -> tuple[tuple[Seam, int] | None, dict[str, Any] | None]:
    """The first seam that the unit made wrong, with the position in it; and how the port failed."""
    number = [unit.reference for unit in alignment.pairing.units].index(row.unit)
    found: list[tuple[Seam, int]] = []

    def seen(seam: Seam) -> None:
        if seam.maker != number or found or seam.opened:
            return
        for position, x in enumerate(seam.reference):
            others = seam.others.get("candidate", ())
            y = others[position] if position < len(others) else None
            if y is not None and not close(x.view, y.view):
                found.append((seam, position))
                return

    draws = Draws(alignment.request.injected)
    lockstep = Lockstep(
        alignment.reference, alignment.candidate, alignment.pairing, (), seen, draws, opened=alignment.opened, free=False)
    try:
        lockstep.run()
    finally:
        lockstep.stop()
    return (found[0] if found else None), lockstep.candidate.failure


class _Reader:
    """Makes traces of what the workers tell."""

    def __init__(self, alignment: Any, units: tuple[str, str], about: list, calls: list):
        self.alignment, self.units, self.about, self.calls = alignment, units, about, calls
        self.seats: tuple[Seat, Seat] = (alignment.reference, alignment.candidate)

    def scene(self, seam: tuple[Seam, int] | None, failure: dict[str, Any] | None) -> Scene:
        for calls, unit in zip(self.calls, self.units):
            for call in calls:
                if call["why"]:
                    raise Impossible(f"the source of {unit or 'the root'} is not understood: {call['why']}")
        if seam is None:
            return self._raised(failure)
        found, position = seam
        if found.part == "out" and found.unit == found.maker:
            traces = [self.trace(side, found.call) for side in (0, 1)]
            targets = [self._held(t, t.outputs, value) for t, value in zip(traces, self._values(found, position))]
            place = f"it returns a wrong {found.labels[position] or 'result'}"
        else:
            traces, targets = self._at_part(found, position)
            name = self.alignment.pairing.units[found.unit].candidate.replace("::", ".")
            place = f"it gives {name} a wrong {found.labels[position] or 'input'}"
        return Scene(traces[0], traces[1], (targets[0], targets[1]), place)

    def _values(self, seam: Seam, position: int) -> tuple[np.ndarray, np.ndarray]:
        other = seam.others["candidate"][position]
        assert other is not None
        return seam.reference[position].view, other.view

    def _at_part(self, seam: Seam, position: int) -> tuple[list[Trace], list[int]]:
        """The seam is the entry of a part: find the call on each side, and the step that holds this input."""
        unit = self.alignment.pairing.units[seam.unit]
        traces, targets = [], []
        for side, name, value in zip((0, 1), (unit.reference, unit.candidate), self._values(seam, position)):
            for number, call in enumerate(self.calls[side]):
                part = next((n for n in call["nodes"] if n.get("unit") == name and n["kind"] == "entering"
                             and n["call"] == seam.call), None)
                if part is not None:
                    traces.append(self.trace(side, number))
                    targets.append(self._held(traces[-1], part["leaves"], value))
                    break
            else:
                raise Impossible(f"{name} is not called by the unit's own code")
        return traces, targets

    def _held(self, trace: Trace, numbers: list[int], value: np.ndarray) -> int:
        """The step among these that holds this value."""
        for number in numbers:
            if number in trace.values and trace.values[number].shape == value.shape and np.array_equal(
                trace.values[number], value, equal_nan=value.dtype.kind == "f"
            ):
                return number
        raise Impossible("the differing value is none that the unit's own code computes")

    def _raised(self, failure: dict[str, Any] | None) -> Scene:
        if failure is None:
            raise Impossible("nothing differs when its parts are put right one by one")
        for number, call in enumerate(self.calls[1]):
            steps = [i for i, node in enumerate(call["nodes"]) if node["kind"] == "raised"]
            if steps:
                if number >= len(self.calls[0]):
                    break
                port, reference = self.trace(1, number), self.trace(0, number)
                error = port.nodes[steps[0]].error
                return Scene(reference, port, (reference.outputs[0], steps[0]), f"it raises {error}", error)
        raise Impossible("the port raises, but not in this unit's own code")

    def trace(self, side: int, number: int) -> Trace:
        """Fetch one call."""
        seat, about, call = self.seats[side], self.about[side], self.calls[side][number]
        answer, tensors = seat.exchange("values", {}, call=number)
        values = {entry["number"]: tensors[entry["var"]] for entry in answer["values"]}
        arrays = {n: np.ascontiguousarray(t.view).reshape(t.shape) for n, t in values.items() if t.dtype.name != "bfloat16"}
        nodes = [msgspec.convert(node, Node) for node in call["nodes"]]
        return Trace(nodes, call["outputs"], arrays, about["file"], about["line"], about["name"])
