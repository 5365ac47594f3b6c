"""Backward and training of two native models: gradients unit by unit, then whole steps of an optimiser.

A gradient is judged like an output. In a training step the port first gets the reference's parameters, so that what
differs in its gradients was made in this step; then its optimiser gets the reference's gradients, so that what differs
after the step was made by the optimiser.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Mapping

import msgspec
import numpy as np

from minrepro.align.draws import Draws
from minrepro.align.judging import errors, screen, unaided
from minrepro.align.loading import Loader
from minrepro.align.pairing import Unit
from minrepro.align.seams import NUDGES
from minrepro.align.seat import Seat
from minrepro.compare import sensitivity
from minrepro.compare.verdict import SINGLE, Question, Truth, judge
from minrepro.errors import CaptureError
from minrepro.ir.divergence import Comparison, Divergence
from minrepro.ir.outcome import Completed
from minrepro.ir.tensor import Tensor

OPTIMISERS = ("sgd", "momentum", "adamw")
RATE, BETA2 = 0.01, 0.999
"""As in ``inside/training.py``."""
TERMS = 8
"""Roundings in one element of an optimiser's step."""



HINT = "Some layers have a backward in training mode only: if yours runs in evaluation, add --train."


class Refused(CaptureError):
    """A side whose forward runs raises in its backward pass.

    Attributes:
        seat: the side.
        event: what it raised.
    """

    def __init__(self, message: str, seat: Seat, event: dict[str, Any]):
        super().__init__(message)
        self.seat, self.event = seat, event


class Compared(msgspec.Struct):
    """One gradient or parameter on both sides.

    Attributes:
        what: ``gradient`` or the optimiser's name.
        step: number of the training step, from 0.
        key: on the reference's side.
        comparison: the verdict.
        absolute, ulp: of the largest difference.
    """

    what: str
    step: int
    key: str
    comparison: Comparison
    absolute: float
    ulp: float


class Gradients:
    """Gradients of single calls, unit by unit, while a lockstep stands at their exit.

    Args:
        reference, candidate: the sessions.
        turned: (candidate unit, name of a parameter in it) -> whether it lies the other way round.
        length: terms that one element of a unit's results adds up.
    """

    def __init__(self, reference: Seat, candidate: Seat, turned: Callable[[str, str], bool]):
        self.reference, self.candidate, self.turned = reference, candidate, turned
        self.call = 0
        self.failed: list[str] = []
        self.found: list[tuple[int, str, Comparison, float]] = []

    def check(self, number: int, unit: Unit, call: int, length: int) -> None:
        """Compare the gradients of a call that both sides have just left.

        Args:
            number: of the unit.
            unit: the pair.
            call: how often the unit was called before.
            length: terms that one element adds up.
        """
        self.call = call
        left = self._of(self.reference, "leader", unit.reference)
        right = self._of(self.candidate, "candidate", unit.candidate)
        suspicious = [
            label for label in left
            if label in right and not screen(left[label], self._facing(unit, label, right[label]), length)
        ]
        wide = self._wide(unit) if suspicious else None
        for label in left:
            if label not in right:
                continue
            x, y = left[label], self._facing(unit, label, right[label])
            comparison = Comparison("same")
            if label in suspicious and wide is not None:
                truth, moved, other = wide
                other = {n: self._facing(unit, n, value) for n, value in other.items()}
                comparison = _judged(label, x, y, length, truth, moved, other)
            self.found.append((number, label, comparison, errors(x, y)[0]))

    def _wide(self, unit: Unit):
        truth = self._of(self.reference, "leader", unit.reference, wide=True)
        moved = [
            self._of(self.reference, "leader", unit.reference, wide=True, nudge=i + 1) for i in range(len(NUDGES))
        ]
        return truth, moved, self._of(self.candidate, "candidate", unit.candidate, wide=True)

    def _of(self, seat: Seat, title: str, unit: str, **how: Any) -> dict[str, Tensor]:
        answer, values = seat.exchange("gradient", {}, title=title, unit=unit, call=self.call, **how)
        if "failed" in answer and not how:
            self.failed.append(f"no gradient of {unit or 'the whole'} on {seat.title}: {answer['failed']}")
        return {item["label"]: values[item["var"]] for item in answer.get("values", ())}

    def _facing(self, unit: Unit, label: str, value: Tensor) -> Tensor:
        return _facing(value, not label.startswith("input ") and self.turned(unit.candidate, label))


class Training:
    """Whole training steps on both sides.

    Args:
        reference, candidate: the sessions, with the models loaded.
        loader: knows which entry of the port is made of what.
        convert: where the user's converter is; gradients and parameters go the same way as the weights.
        injected: give the reference's draws to the port.

    Attributes:
        alone: parameters of the port, and of the reference, whose gradients were compared with nothing.
    """

    def __init__(
        self, reference: Seat, candidate: Seat, loader: Loader, convert: Mapping[str, Any] | None, injected: bool = True,
    ):
        self.reference, self.candidate, self.loader = reference, candidate, loader
        self.convert, self.injected = convert, injected
        self.alone: tuple[list[str], list[str]] = [], []

    def run(self, steps: int, optimiser: str, progress: Callable[[int, int, str], None]) -> list[Compared]:
        """Train both sides for some steps.

        Args:
            steps: how many; 0 compares the gradients of one backward pass only.
            optimiser: one of `OPTIMISERS`.
        """
        found: list[Compared] = []
        for seat in (self.reference, self.candidate):
            seat.ask("reset", arrays="keep")
        for step in range(max(steps, 1)):
            progress(step + 1, max(steps, 1), f"{optimiser} step")
            found += self._gradients(step)
            if steps:
                found += self._optimiser(step, optimiser)
        for seat in (self.reference, self.candidate):
            seat.ask("reset", arrays=None)
        return found

    # -- gradients -----------------------------------------------------------------------------------------------

    def _gradients(self, step: int) -> list[Compared]:
        draws = Draws(self.injected)
        left = self._backward(self.reference, "step", draws, lead=True)
        right = self._backward(self.candidate, "step", draws)
        self.left = left
        pairs = self._pairs(left, right)
        seen = {piece.source for key in pairs.values() for piece in self.loader.pieces.get(key, ())} | set(pairs)
        mine, partners = set(self.loader.partners) | set(self.loader.pieces), set(self.loader.partners.values())
        self.alone = [key for key in right if key not in mine | {"loss"}], [key for key in left if key not in seen | partners]
        truth = moved = wide = None

        def known() -> tuple[dict[str, Tensor], list[dict[str, Tensor]], dict[str, Tensor]]:
            nonlocal truth, moved, wide
            if truth is None:
                truth = self._backward(self.reference, "step_truth", draws, wide=True)
                moved = [
                    self._backward(self.reference, f"step_{role}", draws, wide=True, nudge=i + 1)
                    for i, role in enumerate(NUDGES)
                ]
                wide = self._backward(self.candidate, "step_wide", draws, wide=True)
            assert moved is not None and wide is not None
            return truth, moved, wide

        found = [self._compared("gradient", step, key, port, left, right, known) for key, port in pairs.items()]
        return found + self._one_sided(step, left, right)

    def _one_sided(self, step: int, left: Mapping[str, Tensor], right: Mapping[str, Tensor]) -> list[Compared]:
        """Gradients that only one side has: none is as good as zeros, and anything else is another graph."""
        found = []
        for port, key in self.loader.partners.items():
            if (key in left) == (port in right):
                continue
            side, value = ("reference", left[key]) if key in left else ("port", right[port])
            largest = float(np.abs(value.values).max(initial=0.0))
            told = Divergence("structure", "candidate", key, (), "a gradient", "none", "", math.inf, largest,
                              detail=f"{key}: only the {side} has a gradient")
            comparison = Comparison("diverges", math.inf, told) if largest else Comparison("same")
            found.append(Compared("gradient", step, key, comparison, largest, 0.0))
        return found

    def _pairs(self, left, right) -> dict[str, str]:
        """Name on the reference's side -> key of the port, of what both sides have; parts of entries are named as such."""
        back = {source: key for key, source in self.loader.partners.items() if key in right}
        whole = {key: "loss" if key == "loss" else back[key] for key in left if key == "loss" or key in back}
        parts = {
            " + ".join(map(str, pieces)): key for key, pieces in self.loader.pieces.items()
            if key in right and all(piece.source in left for piece in pieces)
        }
        return whole | parts

    def _due(self, key: str, port: str, values: Mapping[str, Tensor]) -> Tensor | None:
        """The reference's value for an entry of the port, parts as the port has them."""
        if port not in self.loader.pieces:
            return values.get(key)
        parts = [piece.of(values[piece.source].view) for piece in self.loader.pieces[port] if piece.source in values]
        if len(parts) < len(self.loader.pieces[port]):
            return None
        axis = self.loader.pieces[port][0].axis or 0
        return Tensor(np.concatenate(parts, axis), values[self.loader.pieces[port][0].source].dtype)

    def _has(self, port: str, values: Mapping[str, Tensor]) -> Tensor | None:
        """The port's value, a whole entry the way the reference has it."""
        turned = port in self.loader.turned and port not in self.loader.pieces
        return _facing(values[port], turned) if port in values else None

    def _backward(
        self, seat: Seat, title: str, draws: Draws, lead: bool = False, wide: bool = False, nudge: int = 0
    ) -> dict[str, Tensor]:
        """Loss and gradients of one side, with the reference's draws."""
        event, values = seat.exchange("step", {}, title=title, wide=wide, nudge=nudge)
        while event["kind"] == "draw":
            stack = tuple((hash(name), call) for name, call in event["stack"])
            own = values[event["values"][0]["var"]]
            put: dict[str, Tensor] = {}
            if lead:
                draws.made(stack, event["distribution"], own, tuple(event["line"]))
            else:
                value = draws.take("candidate", title, stack, event["distribution"], own.shape, tuple(event["line"]), True)
                if isinstance(value, Tensor):
                    put = {f"{title}_put": value}
            event, values = seat.exchange("go", put, title=title, replace=list(put) or None)
        seat.ask("stop", title=title)
        if event["kind"] == "raised" and wide:
            return {}  # its float64 copy cannot: what it would judge is judged by size
        if event["kind"] == "raised":
            told = event["blame"]
            place = f" at {told['file']}:{told['line']}" if told["file"] else " in the framework itself"
            said = told["message"].strip()
            raise Refused(f"{seat.title}: the backward pass raised {told['error']}{place}: {said}\n{HINT}", seat, event)
        return {item["label"]: values[item["var"]] for item in event["values"]}

    # -- the optimiser -------------------------------------------------------------------------------------------

    def _optimiser(self, step: int, name: str) -> list[Compared]:
        """Step on the reference's gradients, compare, and give the port the reference's parameters."""
        gradients = {key: value for key, value in self.left.items() if key != "loss"}
        self._carry(gradients)
        left = self._after(self.reference, name, False)
        right = self._after(self.candidate, name, True)
        known = lambda: (left, [], right)  # noqa: E731 - an optimiser's step is judged in float32 alone
        pairs = self._pairs(gradients, right)
        found = [self._compared(name, step, key, port, left, right, known) for key, port in pairs.items()]
        self._carry(left)
        self.candidate.ask("reset", arrays="made")
        return found

    def _after(self, seat: Seat, name: str, given: bool) -> dict[str, Tensor]:
        event, values = seat.exchange("optimise", {}, name=name, given=given)
        return {item["label"]: values[item["var"]] for item in event["values"]}

    def _carry(self, changed: Mapping[str, Tensor]) -> None:
        """Send values of the reference's parameters through the converter; entries without one go as they are."""
        names = {}
        for entry in self.reference.ask("state"):
            value = changed.get(entry["key"])
            if value is None:
                value = self.reference.fetch([entry["name"]])[entry["name"]]
            names[entry["key"]] = f"from_{entry['name']}"
            self.candidate.bind({names[entry["key"]]: value}, arrays=True)
        turned: list[str] = []
        if self.convert is None:
            names = {key: names[source] for key, source in self.loader.partners.items()}
            turned = [key for key in names if key in self.loader.turned]
        self.candidate.ask("converted", source=self.convert, names=names, turned=turned)

    def _compared(self, what: str, step: int, key: str, port: str, left, right, known) -> Compared:
        x, y = self._due(key, port, left), self._has(port, right)
        assert x is not None and y is not None
        absolute, ulp = errors(x, y)
        length = max([1, *x.shape]) if what == "gradient" else TERMS
        if what != "gradient":
            same = screen(x, y, length) or absolute <= _corrected(what, step)
            return Compared(what, step, key, Comparison("same") if same else _stepped(x, y, key), absolute, ulp)
        if screen(x, y, length):
            return Compared(what, step, key, Comparison("same"), absolute, ulp)
        truth, moved, wide = known()
        asked = ({key: value} if value is not None else {} for value in (
            self._due(key, port, truth), *(self._due(key, port, one) for one in moved), self._has(port, wide)))
        first, *spread, other = asked
        return Compared(what, step, key, _judged(key, x, y, length, first, spread, other), absolute, ulp)


def _judged(key: str, x: Tensor, y: Tensor, length: int, truth, moved, wide) -> Comparison:
    """The verdict on one gradient, by float64 runs where both sides have them, else by its size alone."""
    if key not in truth:
        return unaided(x, y, key)
    z = truth[key].values
    spread = sensitivity.sampled(z, [m[key].values for m in moved if key in m])
    question = Question(
        "reduction", length, (key,), lambda: Truth({key: z}, {key: spread}, "float64 reference"),
        wide=lambda: {key: wide[key].values} if key in wide else None,
    )
    return judge(question, Completed({key: x}), Completed({key: y}))


def _facing(value: Tensor, turned: bool) -> Tensor:
    """The port's value the way the reference has it."""
    return Tensor(np.ascontiguousarray(value.view.T), value.dtype) if turned and len(value.shape) == 2 else value


def _corrected(optimiser: str, step: int) -> float:
    """How far a parameter may be off because 1 - beta2**t loses digits in float32, as some kernels compute it."""
    if optimiser != "adamw":
        return 0.0
    return 2.0 * RATE * SINGLE / (1.0 - BETA2 ** (step + 1))


def _stepped(x: Tensor, y: Tensor, key: str) -> Comparison:
    """A parameter after a step on the same gradients: only the formula of the optimiser can differ."""
    gap = np.abs(x.values - y.values)
    index = tuple(int(i) for i in np.unravel_index(int(np.argmax(gap)), gap.shape)) if gap.size else ()
    a, b = repr(x.view[index].item()), repr(y.view[index].item())
    detail = f"{key}{list(index)}: {a} on the reference, {b} on the port after one step on the same gradients"
    return Comparison("diverges", math.inf, Divergence("value", "candidate", key, index, a, b, "", math.inf,
                                                      float(gap.max()), int(np.count_nonzero(gap)), gap.size, detail))
