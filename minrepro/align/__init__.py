"""Align: two native models, each in its own framework, compared seam by seam.

No translation stands between the user and his answer: his port runs as it is, on the reference's values. `lockstep`
runs both, `pairing` says which module answers to which, `loading` carries the weights, `judging` decides what rounding
explains, `findings` says whose fault the rest is, `table` prints it.
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Mapping

import msgspec

from minrepro.align import exchange, findings, interfaces, loading, settings
from minrepro.align.batch import uneven
from minrepro.align.calls import Found
from minrepro.align.deaths import Deaths
from minrepro.align.draws import Draws
from minrepro.align.experiment import MOST, Answer, Experiment, kind
from minrepro.align.glue import Glue, reduce_glue
from minrepro.align.pairing import Module, Pairing, modules, pair, rules
from minrepro.align.passing import Passed, Passes
from minrepro.align.seams import Opened
from minrepro.align.seat import Died, Progress, Seat
from minrepro.align.training import HINT, Compared, Refused, Training
from minrepro.capture.inputs import parse
from minrepro.compare.pair import Pair, open_side
from minrepro.errors import CaptureError
from minrepro.ir.case import Case
from minrepro.ir.graph import Graph
from minrepro.ir.tensor import Tensor

SCRIPTS = 3
"""Kinds of mistakes that are reduced in one run."""


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
        self.opened: Opened = {}
        self.cases: dict[str, Case] = {}
        self.call: Found | None = None
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
            passed = self._timed("compare", self._compare)
        except CaptureError as error:
            raise CaptureError(f"{error}\n{self._uneven()}".rstrip()) from None
        table, failure, self.call = passed.table, passed.failure, passed.call
        self.notes += passed.notes
        autocast = {
            side: seat.ask("noted")["autocast"]
            for side, seat in (("reference", self.reference), ("candidate", self.candidate))
        }
        if failure is not None and (told := self._uneven()):
            self.notes.append(told)
        findings.explain(table, findings.Evidence(entries, passed.draws, self._settings(), autocast, failure))
        if passed.forced and not passed.whole and not any(row.verdict in findings.GUILTY for row in table.rows):
            table.rows[0].verdict, table.rows[0].note = "unexplained", "the outputs differ, and not all could be compared"
        if self.request.convert is not None and failure is None:
            self._timed("exchange", lambda: exchange.mended(
                self.passes, self.opened, self.candidate, self.loader, table, entries))
        if passed.gradients is not None:
            table.take_gradients(passed.gradients.found)
            table.take_deaths(self.deaths.gradients)
        if passed.whole and any(row.verdict in ("port", "weights") for row in table.rows):
            self.notes.append("the whole returns the same: what differs inside is meant, or this input hides it")
        trained: list[Compared] = []
        if (self.request.backward or self.request.steps) and not failure:
            trained, failure = self._timed("training", lambda: self._trained(passed.draws))
        self._timed("experiment", lambda: self._experiment(table, entries))
        scripts = self._timed("scripts", lambda: self._scripts(table)) if self.request.scripts else []
        return Aligned(
            table.rows, entries, self.pairing, passed.draws, autocast, failure, self.notes, self.seconds, passed.seams,
            self.cases, self.call, scripts, trained,
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
            self.notes += [f"the {side}'s code replaces {p['name']} at {p['file']}:{p['line']}" for p in answer["patches"]]
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
        self.loader = loading.Loader(self.reference, self.candidate, self.trees, self.mapped, self.progress)
        entries = self.loader.load(self.request.convert)
        self.pairing = self.loader.pairing
        return entries

    def _compare(self) -> Passed:
        """Run both models; where the port's parts only differ in what they are told, again with those left to themselves."""
        self._watch()
        turned = self.loader.turned if self.request.backward else None
        self.passes = Passes(
            self.pair, (self.reference, self.candidate), self.pairing, self.trees, self.deaths, self.request.injected, turned,
            self.progress,
        )
        passed, self.opened = interfaces.settled(self.passes)
        return passed

    def _watch(self) -> None:
        for seat, side in ((self.reference, "reference"), (self.candidate, "candidate")):
            names = [getattr(unit, side) for unit in self.pairing.units]
            for name, why in seat.ask("watch", units=names):
                self.notes.append(f"{name} of the {side} cannot be watched: {why}")

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

    def _trained(self, draws: Draws) -> tuple[list[Compared], dict[str, Any] | None]:
        """Whole backward passes and training steps, and the port's death in them."""
        if self.deaths.gradients:
            self.notes.append("no whole backward pass and no training step: the port's process would not survive it")
            return [], None
        if drawing := draws.hidden[False] | draws.hidden[True]:
            names = ", ".join(self.pairing.units[number].reference or "(root)" for number in sorted(drawing))
            self.notes.append(f"no whole backward pass and no training step: the draws inside {names} cannot be pinned")
            return [], None
        try:
            return self._train(), None
        except Refused as refused:
            if refused.seat is not self.candidate:
                raise
            self.notes.append(f"the port's forward runs, its backward pass raises. {HINT}")
            return [], refused.event
        except Died as died:
            if died.seat is not self.candidate:
                raise
            failure = self.deaths.located(died, self._train)
            self.call = self.deaths.call
            return [], failure

    def _train(self) -> list[Compared]:
        """Whole backward passes and training steps."""
        one = Training(self.reference, self.candidate, self.loader, self.request.convert, self.request.injected)
        found = one.run(self.request.steps, self.request.optimiser, self.progress)
        for side, keys in (("port", one.alone[0]), ("reference", one.alone[1])):
            if keys:
                more = f" (+ {len(keys) - 6})" if len(keys) > 6 else ""
                self.notes.append(
                    f"not compared: the gradients of {len(keys)} parameter(s) of the {side}, which answer to none of the other "
                    f"side: {', '.join(keys[:6])}{more}; give --map")
        return found

    def _settings(self) -> dict[str, list[str]]:
        pairs = {
            left: (self.trees[0][left], self.trees[1][right]) for left, right in self.pairing.modules.items()
        }
        return settings.compare(pairs)


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
