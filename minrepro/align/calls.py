"""A call of the framework that raises, or ends the process, or never returns: reduced to one line, scripted, verified.

The reference makes the same call where it can (torch's methods have the same names), so that a reduced call is one that
ought to work. Other calls of the port that have the same form are listed: a repair of one is seldom the repair.
"""

from __future__ import annotations

import ast
import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable, Mapping

import msgspec

from minrepro.align import form
from minrepro.align.form import Argument, Call
from minrepro.align.seat import Seat
from minrepro.backends import Backend
from minrepro.backends.program import Feed, Program, Step
from minrepro.compare.pair import Side
from minrepro.emit import literal, template
from minrepro.emit.script import endings, replay_notes, requirements
from minrepro.ir.outcome import Completed, Crashed, Outcome, Raised, TimedOut, from_outside
from minrepro.ir.signature import normalise
from minrepro.ir.tensor import Tensor
from minrepro.verify.running import run as run_script

MOST = 400
"""Queries after which the reduction of one call ends."""
MOST_SECONDS = 30.0
"""Time that one call may take; less where the reference needs much less."""
RUNS = 3
REFUSES = ("RuntimeError", "ValueError", "IndexError")
"""What a framework raises for values that do not fit; a spelling that it does not know is a TypeError or AttributeError."""


class Found(msgspec.Struct):
    """A reduced call with its script.

    Attributes:
        call: the call as text.
        where: file and line of the port.
        error: class and message.
        path: of the script.
        lines: of the script.
        original: the call before.
        queries: how many were asked.
        reproduced, runs: fresh processes.
        alike: other lines of the port with a call of the same form.
        checked: the reference accepts the reduced call.
        why: why there is no script, ``""`` if there is one.
    """

    call: str
    where: str
    error: str
    path: str
    lines: int
    original: str
    queries: int
    reproduced: int
    runs: int
    alike: list[str]
    checked: bool
    why: str = ""


def reduce_call(
    reference: Side, candidate: Side, seat: Seat, role: str, folder: Path, progress: Callable[[int, int, str], None]
) -> Found | None:
    """Reduce the call in which a forward of the port raised.

    Args:
        reference, candidate: both sides.
        seat: the port's session.
        role: title of the run that raised.
        folder: where the script goes.

    Returns:
        None if the port raised by itself, not in a call of the framework.
    """
    told = seat.ask("failing", title=role)
    call = form.read(told) if told else None
    if call is None:
        return None
    one = Reducer(reference, candidate, told, call, progress)
    return one.found(folder) if isinstance(one.error, Raised) else None


class Reducer:
    """Reduces one call that goes wrong.

    Args:
        reference, candidate: both sides.
        told: where the call was made: "file", "line", "text".
        call: the call.
        progress: told what is being tried.
        ended: how the port's process ended in it; None if it raised.

    Attributes:
        error: what the call alone does, if that is what it did in the port; else None.
        checked: the reference makes the call.
        refused: how the reference refuses these very arguments, ``""`` if it does not.
    """

    def __init__(self, reference: Side, candidate: Side, told: Mapping[str, Any], call: Call, progress,
                 ended: Crashed | TimedOut | None = None):
        self.reference, self.candidate, self.told, self.start, self.progress = reference, candidate, told, call, progress
        self.ended = ended
        self.known: dict[str, bool] = {}
        self.deadline = MOST_SECONDS
        right = self._run(call, reference)
        self.checked = isinstance(right, Completed)
        self.refused = ""
        if isinstance(right, Raised) and ended is None and right.kind in REFUSES:
            self.refused = f"{right.kind}: {_headline(right)}"
        if ended is not None:
            self.deadline = min(MOST_SECONDS, 3.0 + 20.0 * right.seconds) if isinstance(right, Completed) else 10.0
        first = self._run(call, candidate)
        wrong = isinstance(first, Raised) if ended is None else same_end(first, ended)
        self.error = first if wrong else None

    def found(self, folder: Path) -> Found:
        """The reduced call, its script, and how often that shows it; a call that the reference refuses, too, stays as it is."""
        if self.refused and self.error is not None:
            title = self.reference.spec.backend.title
            why = f"{title} refuses this call, too ({self.refused}): it is right to raise, what made the arguments is wrong"
            return self._told(self.start, self.error, why=why)
        best = self._simplified(self.start)
        while len(self.known) <= MOST:
            smaller = next((c for c in form.smaller(best) if c.size < best.size and self._shows(c)), None)
            if smaller is None:
                break
            best = smaller
            self.progress(len(self.known), 0, best.text())
        best = self._simplified(best)
        final = self._run(best, self.candidate)
        if not same_end(final, self.error):
            final = self.error
        why = self._forked(best)
        if from_outside(final):
            why = f"a script cannot show that something outside of it ended it ({_ending(final)})"
        if why:
            return self._told(best, final, why=why)
        text = self._script(best, final)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "repro.py"
        path.write_text(text, encoding="utf-8")
        backend, replay = self.candidate.spec.backend, self.candidate.replay
        under = (backend.path, str(replay)) if replay is not None else None
        with ThreadPoolExecutor(RUNS if isinstance(final, TimedOut) else 1) as pool:  # those wait for their end
            runs = list(pool.map(
                lambda _: run_script(text, self.candidate.worker.interpreter, under=under, deadline=120.0), range(RUNS)))
        return self._told(best, final, str(path), len(text.splitlines()), sum(run.status == 1 for run in runs))

    def _told(self, call: Call, final: Outcome, path: str = "", lines: int = 0, shown: int = 0, why: str = "") -> Found:
        error = f"{final.kind}: {_headline(final)}" if isinstance(final, Raised) else _ending(final)
        kin = [] if self.refused else alike(self.told["file"], self.told["line"], self.start)
        return Found(
            call.text(), f"{self.told['file']}:{self.told['line']}", error, path, lines, self.told["text"], len(self.known),
            shown, RUNS if path else 0, kin, self.checked, why,
        )

    def _simplified(self, call: Call) -> Call:
        """The call with the simplest values that show it, tensor by tensor."""
        for number, tensor in enumerate(call.tensors):
            choices = [call.filled(number, fill) for fill in form.FILLS] if tensor.fill == "data" else []
            call = next((choice for choice in choices if self._shows(choice)), call)
        return call

    def _shows(self, call: Call) -> bool:
        """True if the call goes wrong in the same way and, where it did before, works on the reference."""
        name = hashlib.sha256(repr(call).encode()).hexdigest()
        if name not in self.known:
            same = same_end(self._run(call, self.candidate), self.error)
            self.known[name] = same and (not self.checked or isinstance(self._run(call, self.reference), Completed))
        return self.known[name]

    def _forked(self, call: Call) -> str:
        """Why the end is that of a forked process only, ``""`` if a new one comes to the same."""
        if self.ended is None:
            return ""
        alone = self.candidate.worker.direct(*self._asked(call, self.candidate), deadline=self.deadline + 5.0)
        if same_end(alone, self.error):
            return ""
        return "it shows in a forked process only, which is how minrepro runs the port: nobody else has to see it"

    def _run(self, call: Call, side: Side) -> Outcome:
        return side.worker.run(*self._asked(call, side), deadline=self.deadline)

    def _asked(self, call: Call, side: Side) -> tuple[Program, dict[str, Tensor], tuple[str, ...]]:
        backend = side.spec.backend
        feeds = {f"x{i}": tensor.tensor for i, tensor in enumerate(call.tensors)}
        # Some frameworks work on threads of their own until somebody reads the result.
        lines = (f"y = {call.text(next(iter(backend.imports)))}", *(("str(y)",) if self.ended is not None else ()))
        given = tuple(Feed(name, name, False, ()) for name in feeds)
        return Program(given, (Step("call", lines, ()),), {}), feeds, ()

    def _script(self, call: Call, error: Outcome) -> str:
        backend = self.candidate.spec.backend
        root = next(iter(backend.imports))
        setup = [line for i, tensor in enumerate(call.tensors) for line in _made(f"x{i}", tensor, backend)]
        steps = [f"y = {call.text(root)}"]
        used = "\n".join([*setup, *steps])
        names = literal.special(used)
        imports = [f"from math import {', '.join(names)}"] if names else []
        imports += ["import numpy as np"] if "np." in used else []
        why = "PyTorch makes this call" if self.checked else "the port makes this call"
        what = f"raises {error.kind}" if isinstance(error, Raised) else f"ends its process ({_ending(error)})"
        what = "never returns" if isinstance(error, TimedOut) else what
        holes = {
            "PYTHON": backend.python, "TITLE": f"{backend.title}: {call.text()} {what}".replace("\\", "").replace('"', "'"),
            "PACKAGES": json.dumps(requirements(self.candidate.spec, self.candidate.versions(), "np." in used)),
            "NOTES": replay_notes(self.candidate.spec.replay), "IMPORTS": [*imports, backend.imports[root]], "SETUP": setup,
            "EXPECT": [f'expected = "a result"  # {why}'], "SHOW_EXPECTED": "expected", "STEPS": steps, "GUARD": [],
            "SHOW_ACTUAL": "actual", "SAME": "True", "LIMIT": "", "WHY": why,
        }
        if isinstance(error, Raised):
            holes |= {"ACTUAL": '"a result"', "KIND": error.kind}
        else:
            holes |= {"ACTUAL": "str(y)", **endings(error, self.checked)}
        kind = {Raised: "exception", Crashed: "crash", TimedOut: "hang"}[type(error)]
        return template.fill(template.read(kind), holes)


def _made(name: str, argument: Argument, backend: Backend) -> list[str]:
    """The lines that make a tensor."""
    if argument.fill == "zeros":
        return [f"{name} = " + backend.style["zeros"].format(shape=list(argument.shape), dtype=backend.dtypes[argument.dtype])]
    return literal.assignment(name, argument.tensor, backend)


def same_end(outcome: Outcome, other: Outcome | None) -> bool:
    """True if two calls went wrong in the same way."""
    if isinstance(outcome, Raised):
        same = isinstance(other, Raised) and outcome.kind == other.kind
        return same and normalise(outcome.message) == normalise(other.message)
    if isinstance(outcome, Crashed):
        return isinstance(other, Crashed) and outcome.signal == other.signal
    return isinstance(outcome, TimedOut) and isinstance(other, TimedOut)


def _headline(outcome: Raised) -> str:
    """The first line of an exception that says something."""
    return next((line.strip()[:200] for line in outcome.message.splitlines() if line.strip()), "")


def _ending(outcome: Outcome) -> str:
    return outcome.signal if isinstance(outcome, Crashed) else "no answer"


def alike(file: str, line: int, call: Call) -> list[str]:
    """Other lines of the port's file with a call of the same callee and the same form of arguments, each once.

    Args:
        file: of the port.
        line: of the call that raised.
        call: that call.
    """
    name = call.callee.rpartition(".")[2]
    count = len(call.args) - call.method
    found: dict[int, str] = {}
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or node.lineno == line:
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        plain = not any(isinstance(arg, (ast.List, ast.Tuple)) for arg in node.args)
        many = len(node.args) > 1 or any(isinstance(arg, ast.Starred) for arg in node.args)
        if called == name and plain and many and count > 1:
            found.setdefault(node.lineno, f"{file}:{node.lineno}: {ast.unparse(node)}")  # the outermost one comes first
    return [found[number] for number in sorted(found)]
