"""One side of an alignment, seen from the host: its worker's session, and values to and from it."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping

from minrepro.backends import table as backends
from minrepro.backends.program import Feed, Program, view_texts
from minrepro.capture import decode, messages
from minrepro.capture.inputs import contents
from minrepro.compare.pair import Side
from minrepro.errors import CaptureError, InternalError
from minrepro.ir.outcome import Completed, Crashed, TimedOut
from minrepro.ir.tensor import Tensor, TensorSpec
from minrepro.worker.client import Value

WORKER_SIDE = Path(__file__).with_name("worker_side.py")
OURS = str(Path(__file__).parents[1]) + "/"
LATE = "Timeout ("
"""How a log goes on where an answer comes too late: with every thread's frames, innermost first, and a blank line between."""
_FRAME = re.compile(r'\s*File "(.+)", line (\d+) in (.+)')
_NOBODYS = re.compile(r"/(?:site|dist)-packages/|/lib/python\d\.\d+/|^<")


class Died(CaptureError):
    """A side's process ended, or did not answer any more.

    Args:
        seat: which side.
        outcome: how.
        function, arguments: what it had been asked.
    """

    def __init__(self, seat: Seat, outcome: Crashed | TimedOut, function: str, arguments: Mapping[str, Any]):
        self.seat, self.outcome, self.function, self.arguments = seat, outcome, function, arguments
        self.where = f"after {seat.place}" if function == "go" and seat.place else f"in {function!r}"
        log = seat.side.worker.tail(400)
        what, where, source = "its process", self.where, arguments.get("source")
        if function == "converted" and source is not None:
            what, where = f"the converter {named(source)}", ""
        late = isinstance(outcome, TimedOut) and LATE in log
        if late and (place := standing(log)):
            where = f"{where}, at {place}".removeprefix(", ")
        said = "\n".join((log.rpartition(LATE)[0] if late else log).splitlines()[-12:])
        super().__init__(f"{seat.title}: {what} {ended(outcome)} {where}".rstrip() + f".\n{said}".rstrip())


def ended(outcome: Crashed | TimedOut) -> str:
    """How a process ended, as the rest of a sentence."""
    return f"did not answer for {outcome.seconds:.0f} s" if isinstance(outcome, TimedOut) else f"died ({outcome.signal})"


def standing(log: str) -> str:
    """Where the user's code stood when an answer came too late, from what the worker wrote last; ``""`` if it was nowhere."""
    for thread in log.rpartition(LATE)[2].split("\n\n"):
        frames = [match.groups() for line in thread.splitlines() if (match := _FRAME.match(line))]
        own = [frame for frame in frames if not frame[0].startswith(OURS) and not _NOBODYS.search(frame[0])]
        if own and not any(frame[0].startswith(OURS) and frame[2] == "post" for frame in frames):  # that thread waits for us
            return decode.shorten(":".join(own[0][:2]))
    return ""


def named(source: Mapping[str, Any]) -> str:
    """What the user calls a function, from where it is."""
    return f"{source.get('module') or Path(source['file']).name}:{source['callable']}"


class Seat:
    """The session of one side.

    Args:
        side: backend and worker.
        title: what the user calls this model, for messages.
        deadline_s: time that one answer may take.

    Attributes:
        role: ``model`` or ``port``.
    """

    def __init__(self, side: Side, title: str, deadline_s: float):
        self.side, self.title, self.deadline_s = side, title, deadline_s
        self.role = "model"
        self.place = ""  # where a forward was when it was told to go on
        self.longest = 0.0  # seconds that an answer took

    def ask(self, function: str, **arguments: Any) -> Any:
        """Call one function of the worker's half.

        Raises:
            CaptureError: for what the user can mend, and if the process died or hung.
        """
        return self.exchange(function, {}, **arguments)[0]

    def exchange(self, function: str, put: Mapping[str, Tensor], **arguments: Any) -> tuple[Any, dict[str, Tensor]]:
        """The same with values: `put` is bound first; returns the answer and the values that it lists."""
        began = time.monotonic()
        reply, values = self.side.worker.exchange(WORKER_SIDE, function, put, self.deadline_s, **arguments)
        if isinstance(reply, dict) and "mistake" in reply:
            raise CaptureError(self._mended(function, reply["mistake"], arguments))
        if isinstance(reply, (Crashed, TimedOut)):
            raise Died(self, reply, function, arguments)
        if not isinstance(reply, (dict, list)):
            raise InternalError(f"{function!r} of {self.title} failed in the worker: {reply}\n{self.side.worker.tail()}")
        self.longest = max(self.longest, time.monotonic() - began)
        return reply, values

    def _mended(self, function: str, facts: Mapping[str, Any], asked: Mapping[str, Any]) -> str:
        """The message for what the user has to mend: which of his files it is about, and what it has."""
        title, role, source = self.title, self.role, asked.get("source")
        if function == "converted" and source is not None and facts.get("stage") != "convert":
            title, role = named(source), "converter"
        expected = f"{self.side.spec.backend.module}.nn.{'Layer' if self.side.spec.name == 'paddle' else 'Module'}"
        about = {"contents": contents(asked["specs"])} if function == "given" else {}
        return messages.message(title, {"expected": expected, "what": role, **about, **facts})

    def fetch(self, variables: Iterable[str]) -> dict[str, Tensor]:
        """Values of variables of the session, copied."""
        names = {name: name for name in variables}
        if not names:
            return {}
        outcome = self.side.worker.step(Program((), (), names), {}, names, deadline=self.deadline_s)
        if not isinstance(outcome, Completed):
            raise CaptureError(f"{self.title}: its values cannot be read: {outcome}")
        return dict(outcome.values)

    def share(self, variables: Iterable[str]) -> dict[str, Value]:
        """Values left in the worker's shared memory, valid until its next answer."""
        names = {name: name for name in variables}
        outcome = self.side.worker.step(Program((), (), names), {}, names, remote=True)
        if not isinstance(outcome, dict):
            raise CaptureError(f"{self.title}: its values cannot be read: {outcome}")
        return outcome

    def bind(self, values: Mapping[str, Value], arrays: bool = False) -> None:
        """Put values into the session under these names, as tensors, or as NumPy arrays with their layout."""
        if not values:
            return
        style = (backends()["numpy"] if arrays else self.side.spec.backend).style
        feeds = tuple(
            Feed(name, name, arrays, view_texts(_spec(value), style, name)) for name, value in values.items()
        )
        outcome = self.side.worker.step(Program(feeds, (), {}), values, (), deadline=self.deadline_s)
        if not isinstance(outcome, Completed):
            raise CaptureError(f"{self.title}: values cannot be handed over: {outcome}")


def _spec(value: Value) -> TensorSpec:
    return value.spec


Progress = Callable[[int, int, str], None]
