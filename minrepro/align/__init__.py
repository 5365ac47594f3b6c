"""Align: two native models, each in its own framework, compared seam by seam.

No translation stands between the user and his answer: his port runs as it is, on the reference's values. `lockstep`
runs both, `pairing` says which module answers to which, `loading` carries the weights, `judging` decides what rounding
explains, `findings` says whose fault the rest is, `table` prints it.
"""

from __future__ import annotations

import math
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Collection, Mapping, Sequence

import msgspec

from minrepro.align import findings, loading, settings
from minrepro.align.batch import uneven
from minrepro.align.calls import Found, reduce_call
from minrepro.align.deaths import Deaths
from minrepro.align.draws import Draws
from minrepro.align.experiment import MOST, Answer, Experiment, kind
from minrepro.align.glue import Glue, reduce_glue
from minrepro.align.judging import errors, judged, overwritten, screen
from minrepro.align.lockstep import Key, Lockstep, Record, Seam
from minrepro.align.pairing import Module, Pairing, modules, pair, rules
from minrepro.align.seat import Died, Progress, Seat
from minrepro.align.training import Compared, Gradients, Training
from minrepro.capture.inputs import parse
from minrepro.compare.pair import Pair, open_side
from minrepro.errors import CaptureError
from minrepro.ir.case import Case
from minrepro.ir.graph import Graph
from minrepro.ir.tensor import Tensor

SMALL = 1 << 22
"""Elements of state up to which float64 copies of both models run along from the start; larger models are screened
first, so that a clean one costs one forward more on one side and nothing else."""
SCRIPTS = 3
"""Kinds of mistakes that are reduced in one run."""
ROOT = (0, 0)
"""The first call of the whole model."""


class Request(msgspec.Struct, frozen=True):
    """What the user asked for.

    Attributes:
        model, port: where the reference and the port are, resolved (`capture.source`).
        names: what the user calls them.
        convert: where the converter is, resolved; None pairs the state by module.
        mapped: map rules as texts.
        inputs: input specs.
        seed, train: of both models.
        neutral: switch autocast off on both sides.
        injected: give the reference's random draws to the port.
        deadline_s: time that one answer of a worker may take.
        backward: compare gradients, too.
        steps: training steps to compare.
        optimiser: that takes them.
        scripts: reduce the port's own mistakes to scripts.
    """

    model: Mapping[str, Any]
    port: Mapping[str, Any]
    names: tuple[str, str]
    convert: Mapping[str, Any] | None = None
    mapped: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    seed: int = 0
    train: bool = False
    neutral: bool = False
    injected: bool = True
    deadline_s: float = 300.0
    backward: bool = False
    steps: int = 0
    optimiser: str = "adamw"
    scripts: bool = False


class Aligned(msgspec.Struct):
    """What an alignment found; see `table.report` for its JSON form."""

    rows: list[findings.Row]
    entries: list[loading.Entry]
    pairing: Pairing
    draws: Draws
    autocast: dict[str, list[dict[str, Any]]]
    failure: dict[str, Any] | None
    notes: list[str]
    seconds: dict[str, float]
    seams: int = 0
    cases: dict[str, Case] = {}
    call: Found | None = None
    scripts: list[Glue] = []
    trained: list[Compared] = []


class Alignment:
    """One alignment, step by step.

    Args:
        pair: both sides' workers.
        request: what to do.
        progress: called with (done, total, what).
    """

    def __init__(self, pair: Pair, request: Request, progress: Progress = lambda done, total, what: None):
        self.pair, self.request, self.progress = pair, request, progress
        self.reference = Seat(pair.reference, request.names[0], request.deadline_s)
        self.candidate = Seat(pair.candidate, request.names[1], request.deadline_s)
        self.seconds: dict[str, float] = {}
        self.notes: list[str] = []
        self.unwatched: list[str] = []
        self.surplus: dict[int, int] = {}
        self.seams = 0
        self.cases: dict[str, Case] = {}
        self.call: Found | None = None
        self.gradients: Gradients | None = None
        self.given: tuple[Any, dict[str, Tensor]] | None = None
        self.deaths = Deaths(pair, self.candidate, self._revive, progress)

    def run(self) -> Aligned:
        """Build, pair, load, run and judge.

        Raises:
            UsageError, CaptureError: for everything that the user can mend.
        """
        self._timed("build", self._build)
        entries = self._timed("load", self._load)
        try:
            table, draws, failure = self._timed("compare", self._compare)
        except CaptureError as error:
            raise CaptureError(f"{error}\n{self._uneven()}".rstrip()) from None
        autocast = {
            side: seat.ask("noted")["autocast"]
            for side, seat in (("reference", self.reference), ("candidate", self.candidate))
        }
        if failure is not None and (told := self._uneven()):
            self.notes.append(told)
        evidence = findings.Evidence(entries, draws, self._settings(), autocast, failure)
        findings.explain(table, evidence)
        if self.gradients is not None:
            table.take_gradients(self.gradients.found)
            table.take_deaths(self.deaths.gradients)
        trained: list[Compared] = []
        if (self.request.backward or self.request.steps) and not failure:
            trained, failure = self._timed("training", self._trained)
        self._timed("experiment", lambda: self._experiment(table, entries))
        scripts = self._timed("scripts", lambda: self._scripts(table)) if self.request.scripts else []
        return Aligned(
            table.rows, entries, self.pairing, draws, autocast, failure, [*self.unwatched, *self.notes], self.seconds,
            self.seams, self.cases, self.call, scripts, trained,
        )

    def _timed(self, name: str, step):
        start = time.monotonic()
        try:
            return step()
        finally:
            self.seconds[name] = time.monotonic() - start

    # -- the steps -----------------------------------------------------------------------------------------------

    def _build(self) -> None:
        request = self.request
        sides = ((self.reference, request.model), (self.candidate, request.port))

        def built(seat: Seat, source: Mapping[str, Any]) -> dict[str, Any]:
            seat.side.worker.ensure()
            return self._made(seat, source)

        try:
            with ThreadPoolExecutor(2) as pool:
                left, right = pool.map(lambda side: built(*side), sides)
        except Died as died:
            raise self.deaths.built(died) if died.seat is self.candidate else died from None
        self.mapped = rules(request.mapped)
        self.loose = [name for part in right["tree"] for name in part["loose"]]
        for side, answer in (("reference", left), ("port", right)):
            self.unwatched += [f"the {side}'s code replaces {p['name']} at {p['file']}:{p['line']}" for p in answer["patches"]]
        given = self.reference.ask("given", specs=parse(request.inputs))
        self.given = given["tree"], self.reference.fetch(given["names"])
        self._hand_over()
        left = self.reference.ask("warm") if left["lazy"] else left
        right = self.candidate.ask("warm") if right["lazy"] else right
        self._pair(left, right)

    def _made(self, seat: Seat, source: Mapping[str, Any], trace: str = "") -> dict[str, Any]:
        """Build a side's model in a new session."""
        request = self.request
        seat.side.worker.open()
        return seat.ask(
            "build", source=source, seed=request.seed, train=request.train, neutral=request.neutral, trace=trace)

    def _hand_over(self) -> None:
        """Give the reference's inputs to the port."""
        if self.given is not None:
            self.candidate.bind(self.given[1])
            self.candidate.ask("taken", tree=self.given[0])

    def _revive(self, trace: str = "") -> None:
        """Bring the port whose process has died to where its forward can start."""
        self._made(self.candidate, self.request.port, trace)
        self._hand_over()
        self._loaded()
        self.candidate.ask("watch", units=[unit.candidate for unit in self.pairing.units])

    def _uneven(self) -> str:
        return uneven(*self.given) if self.given is not None else ""

    def _pair(self, left: Mapping[str, Any], right: Mapping[str, Any]) -> None:
        self.trees: tuple[dict[str, Module], dict[str, Module]] = modules(left["tree"]), modules(right["tree"])
        self.pairing = pair(*self.trees, self.mapped)
        self.elements = sum(math.prod(shape) for module in self.trees[0].values() for _, shape in module.own)

    def _load(self) -> list[loading.Entry]:
        entries = self._loaded()
        before = [module.own for module in self.trees[1].values()]
        if any(entry.given in ("extra", "not carried over") for entry in entries):
            # The port may make layers in its first call.
            try:
                tree = self.candidate.ask("warm")
            except CaptureError as error:  # the forward will show it
                if isinstance(error, Died):
                    self._revive()
                return entries + [loading.unregistered(name) for name in self.loose]
            if [module.own for module in modules(tree["tree"]).values()] != before:
                self.trees = self.trees[0], modules(tree["tree"])
                self.pairing = pair(*self.trees, self.mapped)
                entries = self._loaded()
        return entries + [loading.unregistered(name) for name in self.loose]

    def _loaded(self) -> list[loading.Entry]:
        self.loader = loading.Loader(
            self.reference, self.candidate, self.pairing, self.trees[1], self.mapped, self.progress
        )
        return self.loader.load(self.request.convert)

    def _compare(self) -> tuple[findings.Table, Draws, dict[str, Any] | None]:
        """One pass if the model is small; else a second one with float64 copies of what the screen could not excuse."""
        self._watch()
        if self.elements <= SMALL:
            return self._pass({ROOT})
        suspicious: set[Key] = set()
        table, draws, failure = self._pass((), suspicious)
        return self._pass(suspicious) if suspicious else (table, draws, failure)

    def _pass(self, scopes: Collection[Key], suspicious: set[Key] | None = None):
        """One lockstep, or as much of it as the port survives; `suspicious` takes the calls that the screen cannot excuse."""
        while True:
            try:
                return self._once(scopes, suspicious)
            except Died as died:
                if died.seat is not self.candidate:
                    raise
                seen = self.table, self.draws, self.seams, self.surplus, self.gradients
                failure = self.deaths.met(died, lambda: self._once(scopes, None))
            if failure is not None:
                self.table, self.draws, self.seams, self.surplus, self.gradients = seen
                self.call = self.deaths.call
                if suspicious is not None:
                    suspicious.clear()  # there is no second pass
                return self.table, self.draws, failure

    def _once(self, scopes: Collection[Key], suspicious: set[Key] | None):
        """One lockstep to its end."""
        table = findings.Table(self.pairing, *self.trees)
        draws = Draws(self.request.injected)
        self.table, self.draws, self.seams, self.surplus = table, draws, 0, {}

        def seen(seam: Seam) -> None:
            if "candidate" not in seam.others:
                return  # the port raised before it came here
            self.seams += len(seam.labels)
            if seam.part == "out" and seam.surplus > 0:
                self.surplus[seam.unit] = seam.surplus
            length = self._length(seam)
            for position in range(len(seam.labels)):
                y = seam.others["candidate"][position]
                if suspicious is not None and seam.maker >= 0 and not screen(seam.reference[position], y, length):
                    suspicious.add((seam.maker, seam.maker_call))
                table.add(judged(seam, position, length), _seen(seam, position))
            for told in overwritten(seam):
                table.add(told, None)

        self.gradients = Gradients(self.reference, self.candidate, self._turned) if self.request.backward else None

        def left(record: Record) -> None:
            assert self.gradients is not None
            unit, fan = self.pairing.units[record.unit], self._fan(record.unit, (*record.inputs, *(record.outputs or ())))
            inner = any((record.unit, record.call) in draw.stack for draw in draws.known) or any(
                number == record.unit or findings.below(self.pairing.units[number].reference, unit.reference)
                for number in draws.hidden[False] | draws.hidden[True])
            alone = self.elements <= SMALL or not lockstep.parts.get(record.unit)
            if alone and not inner and "::" not in unit.reference and not self.deaths.skips(unit.candidate):
                self.gradients.check(record.unit, unit, record.call, fan)

        lockstep = Lockstep(
            self.reference, self.candidate, self.pairing, scopes, seen, draws, self.progress,
            left if self.request.backward else None, self.deaths.narrow,
        )
        lockstep.run()
        failure = lockstep.candidate.failure or lockstep.free.failure
        if failure is not None and self.call is None:
            role = "candidate" if lockstep.candidate.failure is not None else "free"
            self.call = reduce_call(
                self.pair.reference, self.pair.candidate, self.candidate, role, self.pair.folder, self.progress
            )
        lockstep.stop()
        self.notes = list(dict.fromkeys(
            f"no float64 run of the {'port' if role == 'wide' else 'reference'}: "
            f"{told['blame']['message'].strip().partition(chr(10))[0] or told['blame']['error']}"
            for role, told in lockstep.failures if failure is None
        ))
        for number, count in list(self.surplus.items())[:6]:
            name = self.pairing.units[number].candidate or "(root)"
            self.notes.append(f"{name}: the port returns {count} more tensor(s) than the reference; they are not compared")
        self.notes += ["no float64 run of the port: its process dies in it"] if self.deaths.narrow else ()
        self.notes += dict.fromkeys(self.gradients.failed) if self.gradients is not None else ()
        if lockstep.candidate.extra:
            self.notes.append("called by the port only: " + ", ".join(lockstep.candidate.extra[:6]))
        return table, draws, failure

    def _watch(self) -> None:
        for seat, side in ((self.reference, "reference"), (self.candidate, "candidate")):
            names = [getattr(unit, side) for unit in self.pairing.units]
            for name, why in seat.ask("watch", units=names):
                self.unwatched.append(f"{name} of the {side} cannot be watched: {why}")

    def _experiment(self, table: findings.Table, entries: list[loading.Entry]) -> None:
        """Ask for the guilty units and entries whether the framework errs without the port, too."""
        asked = [row for row in table.rows if row.verdict in ("port", "unexplained") or row.verdict == "dies" and not self.call]
        stored = [entry for entry in entries if entry.blame == "framework" and entry.source]
        wrong = [row for row in table.rows if row.gradient == "diverges"]
        if not (asked or stored or wrong) or self.pair.reference.spec.name != "torch":
            return
        fresh = open_side(str(self.pair.candidate.spec), self.pair.folder)
        template = Case(
            Graph((), (), ()), {}, str(self.pair.reference.spec), str(self.pair.candidate.spec), "forward",
            seed=self.request.seed,
        )
        answers: dict[tuple[str, ...], Answer] = {}
        try:
            one = Experiment(self.reference, Pair(self.pair.reference, fresh, self.pair.folder), template)
            found = one.loaded(stored) if stored else None
            if found is not None:
                self.cases[found.graph.nodes[0].path] = found
            for row in asked:
                name = kind(row)
                if name not in answers and len(answers) < MOST:
                    answers[name] = one.ask(row)
                if name in answers:
                    self._answered(row, answers[name], one)
            for row in wrong[:MOST]:
                answer = one.ask(row, backward=True)
                row.gradient = "port" if row.port not in self.deaths.gradients else "unexplained"
                if answer.site is not None:
                    row.gradient = "framework"
                    row.gradient_note = f"the gradient of {answer.site.node.op} alone diverges, without the port"
                    self.cases.setdefault(row.unit, one.case(answer.site))
        finally:
            fresh.worker.stop()

    def _scripts(self, table: findings.Table) -> list[Glue]:
        """Reduce the port's own mistakes, one of each kind."""
        kinds = {kind(row): row for row in reversed(table.rows) if row.verdict == "port"}
        rows = sorted(kinds.values(), key=table.rows.index)[:SCRIPTS]
        return [reduce_glue(self, row, self.pair.folder, self.progress) for row in rows]

    def _answered(self, row: findings.Row, answer: Answer, one: Experiment) -> None:
        """Take an answer into a row."""
        if answer.site is not None:
            found = answer.site.comparison.divergence
            row.verdict = "framework"
            row.note = f"{answer.site.node.op} alone diverges, without the port: {found.detail if found else ''}"
            self.cases.setdefault(row.unit, one.case(answer.site))
        elif answer.why:
            row.note += f" (the framework alone could not be asked: {answer.why})"
        elif row.verdict == "unexplained":
            row.verdict = "port"
            row.note = f"{answer.steps} steps of the reference agree on the candidate, so it is told something else: {row.note}"

    def _length(self, seam: Seam) -> int:
        """Terms that one element of a unit's results may add up."""
        return self._fan(seam.maker, seam.reference)

    def _fan(self, number: int, tensors: Sequence[Tensor]) -> int:
        """The fan-in of a unit's own weights, or the longest axis that it handles."""
        module = self.trees[0][self.pairing.units[number].path] if number >= 0 else None
        axes = [extent for tensor in tensors for extent in tensor.shape]
        fans = [math.prod(shape) // shape[0] for _, shape in (module.own if module else ()) if len(shape) > 1 and shape[0]]
        return max([1, *axes, *fans])

    def _turned(self, unit: str, name: str) -> bool:
        """True if a parameter below a unit of the port lies the other way round than the reference's."""
        return f"{unit}.{name}".strip(".") in self.loader.turned

    def _trained(self) -> tuple[list[Compared], dict[str, Any] | None]:
        """Whole backward passes and training steps, and the port's death in them."""
        if self.deaths.gradients:
            self.notes.append("no whole backward pass and no training step: the port's process would not survive it")
            return [], None
        if drawing := self.draws.hidden[False] | self.draws.hidden[True]:
            names = ", ".join(self.pairing.units[number].reference or "(root)" for number in sorted(drawing))
            self.notes.append(f"no whole backward pass and no training step: the draws inside {names} cannot be pinned")
            return [], None
        try:
            return self._train(), None
        except Died as died:
            if died.seat is not self.candidate:
                raise
            failure = self.deaths.located(died, self._train)
            self.call = self.deaths.call
            return [], failure

    def _train(self) -> list[Compared]:
        """Whole backward passes and training steps."""
        one = Training(
            self.reference, self.candidate, self.loader.partners, self.loader.turned, self.request.convert,
            self.request.injected,
        )
        return one.run(self.request.steps, self.request.optimiser, self.progress)

    def _settings(self) -> dict[str, list[str]]:
        pairs = {
            left: (self.trees[0][left], self.trees[1][right]) for left, right in self.pairing.modules.items()
        }
        return settings.compare(pairs)


def _seen(seam: Seam, position: int) -> float | None:
    """The largest error of this tensor in the port's own run."""
    free = seam.others.get("free")
    if free is None or position >= len(free) or free[position] is None:
        return None
    return errors(seam.reference[position], free[position])[0]


def open_alignment(reference: str, candidate: str, folder: Path, request: Request, progress: Progress) -> Alignment:
    """Start both workers for an alignment."""
    folder.mkdir(parents=True, exist_ok=True)
    left = open_side(reference, folder)
    try:
        right = open_side(candidate, folder)
    except BaseException:
        left.worker.stop()
        raise
    return Alignment(Pair(left, right, folder, request.deadline_s), request, progress)
