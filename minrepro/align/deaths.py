"""A port whose process ends, or never answers, while it runs: where that happens, and the call that does it.

The first run costs nothing more. After a death everything is done once more in a new process which writes down every
call of the framework before it makes it (`inside/tracing.py`); the call that was never crossed out is reduced like one
that raises, each attempt in a process of its own. An end for which no call of the framework is to blame is the port's
own, and is said with its line.
"""

from __future__ import annotations

import contextlib
import json
import linecache
from pathlib import Path
from typing import Any, Callable

import msgspec

from minrepro.align import form
from minrepro.align.calls import Found, Reducer, same_end
from minrepro.align.seat import Died, Progress, Seat, ended
from minrepro.capture.decode import shorten
from minrepro.compare.pair import Pair
from minrepro.errors import CaptureError, MinreproError
from minrepro.ir.outcome import Crashed, TimedOut, from_outside

MOST = 6
"""Units whose gradients may end the process before no more gradients are asked for."""
PATIENCE, SLOWER = 3.0, 15.0
"""Seconds that a traced answer may take, and how many times the longest answer before on top of it."""
ALONE = "comes to an end when it is made alone"
OWN = "in the port's own code"
FORWARD = ("build", "warm", "start", "go")
"""Functions of the worker's half in which the user's code is what runs."""


class Noted(msgspec.Struct, frozen=True):
    """What a traced run wrote down last.

    Attributes:
        told: the call that was made last.
        running: it had not returned.
        values: of its tensors.
        file, line: of the user's code that ran last.
        inside: the framework's function that this line had entered.
        unit: (name, call) of the unit around the line.
    """

    told: dict[str, Any] | None = None
    running: bool = False
    values: bytes = b""
    file: str = ""
    line: int = 0
    inside: str = ""
    unit: tuple[Any, ...] = ()


class Deaths:
    """Looks into every death of the port's process.

    Args:
        pair: both sides' workers.
        candidate: the port's session.
        revive: builds the port in a new session, which traces itself into these files if some are given.
        progress: told what is being tried.

    Attributes:
        narrow: float64 copies of the port end its process.
        gradients: unit of the port -> how its backward ended the process.
        call: the reduced call of the last death.
    """

    def __init__(self, pair: Pair, candidate: Seat, revive: Callable[[str], None], progress: Progress):
        self.pair, self.candidate, self.revive, self.progress = pair, candidate, revive, progress
        self.narrow = False
        self.gradients: dict[str, str] = {}
        self.call: Found | None = None

    def skips(self, unit: str) -> bool:
        """True if the gradient of a unit of the port is not to be asked for: it ends the process, or one below it does."""
        inner = f"{unit}." if unit else ""
        return len(self.gradients) >= MOST or any(dead == unit or dead.startswith(inner) for dead in self.gradients)

    def met(self, died: Died, again: Callable[[], Any]) -> dict[str, Any] | None:
        """What a death in a pass means.

        Args:
            died: how.
            again: repeats the pass.

        Returns:
            The event of a port that cannot go on; None if the pass is to be repeated, with something left out.
        """
        told = died.arguments
        if died.function == "gradient" and not told.get("wide"):
            self.gradients[told["unit"]] = ended(died.outcome)
        elif died.function == "gradient" or str(told.get("title", "")).startswith("wide"):
            self.narrow = True
        else:
            return self.located(died, again)
        self.revive("")
        return None

    def located(self, died: Died, again: Callable[[], Any]) -> dict[str, Any]:
        """Run once more, traced, and say where the process ended; see `met`."""
        second, noted, why = self._traced(died, again)
        if died.function != "build":
            self.revive("")
        if second is None or not same_end(second.outcome, died.outcome):
            return self._event(died, Noted(), f"{died.where}; {why or 'it did not do so again'}")
        if noted.told is not None:
            message = self._called(second.outcome, noted)
            # What works on threads of its own may return before it ends the process.
            if self.call is not None or noted.running and not (message.endswith(ALONE) and isinstance(died.outcome, TimedOut)):
                return self._event(died, msgspec.structs.replace(noted, running=True), message)
            if noted.running:  # the call returns when it is made alone: what never ends is a loop around it
                return self._event(died, noted, f"{OWN}: {noted.told['callee']}, which ran last, {ALONE}")
        if noted.inside:
            return self._event(died, noted, f"in the framework's own {noted.inside}")
        if died.function not in FORWARD or not noted.file:
            return self._event(died, Noted(), died.where)
        return self._event(died, noted, f"{OWN}: no call of {self.candidate.side.spec.backend.module} was running")

    def built(self, died: Died) -> CaptureError:
        """The message for a port that ends its process while it is built."""
        event = self.located(died, lambda: None)["blame"]
        where = f" at {shorten(str(event['file']) + ':' + str(event['line']))}" if event["file"] else ""
        script = f"\nscript: {self.call.path}" if self.call is not None and self.call.path else ""
        return CaptureError(
            f"{self.candidate.title}: building the port: its process {event['error']}{where}: {event['message']}{script}")

    def _traced(self, died: Died, again: Callable[[], Any]) -> tuple[Died | None, Noted, str]:
        """How a traced repetition ended, what it wrote down, and why it said nothing."""
        prefix, patience = self.pair.folder / "trace", self.candidate.deadline_s
        second, why, narrow = None, "", self.narrow
        self.progress(0, 0, "once more, traced")
        self.candidate.deadline_s = min(patience, PATIENCE + SLOWER * self.candidate.longest)
        self.narrow = True  # nobody judges what the repetition computes
        try:
            self.revive(str(prefix))
            again()
        except Died as error:
            if error.seat is not self.candidate:
                raise
            second = error
        except MinreproError as error:  # a framework or a model that does not stand being traced
            why = f"it could not be traced: {str(error).strip().partition(chr(10))[0]}"
        finally:
            self.candidate.deadline_s, self.narrow = patience, narrow
        return second, _noted(prefix), why

    def _called(self, outcome: Crashed | TimedOut, noted: Noted) -> str:
        """Reduce the call that was running; what there is to say about it."""
        told = dict(noted.told or {})
        told["text"] = linecache.getline(told["file"], told["line"]).strip() or told["callee"]
        call = form.read(told, noted.values)
        if call is None:
            return f"in {told['callee']}, whose arguments cannot be written down"
        if from_outside(outcome):
            return f"in {call.text()}; what something outside ended is not reduced"
        one = Reducer(self.pair.reference, self.pair.candidate, told, call, self.progress, outcome)
        if one.error is None:
            return f"in {call.text()}; the call {ALONE}"
        self.call = one.found(self.pair.folder)
        return f"in {call.text()}"

    def _event(self, died: Died, noted: Noted, message: str) -> dict[str, Any]:
        """A death in the form of a forward that raised."""
        told = noted.told if noted.running and noted.told else {"file": noted.file, "line": noted.line, "unit": noted.unit}
        stack = [list(told["unit"])] if told["unit"] else []
        return {
            "kind": "died", "stack": stack, "hang": isinstance(died.outcome, TimedOut),
            "blame": {"error": ended(died.outcome), "message": message, "file": told["file"], "line": told["line"],
                      "path": stack[0][0] if stack else "", "owner": ""},
        }


def _noted(prefix: Path) -> Noted:
    """Read and remove what a traced run wrote down."""
    texts = {}
    for end in ("call", "values", "line"):
        path = prefix.with_name(f"{prefix.name}.{end}")
        texts[end] = path.read_bytes() if path.exists() else b""
        path.unlink(missing_ok=True)
    told, place = None, ("", 0, "", ())
    with contextlib.suppress(ValueError):  # it ended while it wrote
        told = json.loads(texts["call"][1:]) if texts["call"] else None
        place = json.loads(texts["line"]) if texts["line"] else place
    return Noted(told, texts["call"][:1] == b"1", texts["values"], place[0], place[1], place[2], tuple(place[3]))
