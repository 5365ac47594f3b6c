"""Workers that serve many evaluations from one process: a fork per evaluation costs more than a small kernel.

What a kernel breaks there stays broken, so nothing bad that it says is final: the caller asks again in a child of its
own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from minrepro.backends.program import Program
from minrepro.compare.pair import Pair, Side
from minrepro.ir.case import Case
from minrepro.ir.outcome import Crashed, Outcome, TimedOut
from minrepro.worker.client import Value, Worker


class WarmWorker:
    """A `Worker` whose `run` uses the open session, and whose `direct` a second process that goes on living."""

    def __init__(self, worker: Worker):
        self.worker = worker
        self._open = False
        self._second: Worker | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.worker, name)

    def run(self, program: Program, feeds: Mapping[str, Value], returns: Iterable[str], **knobs: Any) -> Outcome:
        """Run a program in the session; its variables are forgotten afterwards."""
        if not self._open:
            self.worker.open()
            self._open = True
        outcome = self.worker.step(program, feeds, returns, free=set(program.variables.values()), **knobs)
        if isinstance(outcome, (Crashed, TimedOut)):
            self._open = False
        return outcome

    def direct(self, program: Program, feeds: Mapping[str, Value], returns: Iterable[str], **knobs: Any) -> Outcome:
        """Run a program without a fork."""
        if self._second is None:
            one = self.worker
            self._second = Worker(
                one.backend, one.interpreter, one.log.path.parent, one.plugins, one.options, one.limit_bytes
            )
        return self._second.inline(program, feeds, returns, free=set(program.variables.values()), **knobs)

    def close(self) -> str | None:
        """End the session; how it ended if that was not a clean exit."""
        was, self._open = self._open, False
        return self.worker.close() if was else None

    def stop(self) -> None:
        """End the second process; the first is somebody else's."""
        if self._second is not None:
            self._second.stop()
            self._second = None


class WarmPair(Pair):
    """The sides of another pair, evaluated warm."""

    def __init__(self, pair: Pair):
        super().__init__(_warm(pair.reference), _warm(pair.candidate), pair.folder, pair.deadline_s)
        self._alone = pair
        self._spelled: tuple[Case | None, dict[str, Program]] = (None, {})

    @property
    def numpy(self) -> Side:
        """The independent float64 reference, warm as well."""
        if self._numpy is None:
            self._numpy = _warm(self._alone.numpy)
        return self._numpy

    def spell(self, case: Case, side: Side) -> Program:
        """A case as text of one side's framework; that of the case in hand is asked for several times."""
        if self._spelled[0] is not case:
            self._spelled = case, {}
        known = self._spelled[1]
        if side.title not in known:
            known[side.title] = super().spell(case, side)
        return known[side.title]

    def isolated(self, side: Side, operators: frozenset[str], text: Program, feeds, outputs, knobs) -> Outcome:
        """Run a program warm, with a fork or without."""
        run = side.worker.run if self._alone.survives_fork(side, operators) else side.worker.direct
        return run(text, feeds, outputs, **knobs)

    def close(self) -> list[str]:
        """End the sessions; how those ended that did not end cleanly."""
        sides = (self.reference, self.candidate, self._numpy)
        return [end for side in sides if side is not None and (end := side.worker.close())]


def _warm(side: Side) -> Side:
    return msgspec.structs.replace(side, worker=WarmWorker(side.worker))
