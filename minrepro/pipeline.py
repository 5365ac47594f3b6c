"""The stages, top to bottom. This is the only file that knows them all.

    capture -> compare -> localise -> diagnose -> shrink -> emit -> verify -> corpus

Each stage is a function of the `Run`, leaves what it found there, and returns what is written to the run folder as
``N-stage.json``. A stage returns None where nothing is left to do, and the run ends with the verdict so far.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections import Counter
from typing import Any, Callable, Mapping

import msgspec

from minrepro.capture import capture
from minrepro.diagnose import UNEXPLAINED, Scene, diagnose, legal
from minrepro.emit import emit
from minrepro.emit.finding import finding
from minrepro.errors import InternalError, SessionLost, UsageError
from minrepro.ir import codec
from minrepro.ir.case import Case
from minrepro.ir.divergence import Site
from minrepro.ir.graph import Graph, Node
from minrepro.ir.outcome import Completed
from minrepro.ir.reduction import Finding, Rate, Repro, Verified
from minrepro.localise.alone import alone
from minrepro.localise.gradients import Gradients, SecondOrder
from minrepro.localise.interaction import EndToEnd
from minrepro.localise.streaming import Stream, Trace
from minrepro.options import Options
from minrepro.record import Listener, aside, checked, counts, describe_trace, excused, kind_of, rates, readable, shape_of, write
from minrepro.shrink import shrink
from minrepro.shrink.oracle import Oracle, identity
from minrepro.state import State
from minrepro.verify import verify

__all__ = ["EXIT", "STAGES", "Listener", "Options", "Run"]

LIVES = 3
"""Times that a run survives the loss of the process that holds the model."""
EXIT = {"clean": 0, "arithmetic": 0, "convention": 0, "policy": 0, "divergence": 1, "unsupported": 2, "unverified": 3}
"""Exit status by verdict."""


class Run(State):
    """A run that executes its stages."""

    def execute(self) -> dict[str, Any]:
        """Run all stages and return the report."""
        began = time.monotonic()
        try:
            for position, (name, stage) in enumerate(STAGES.items(), 1):
                if position <= list(STAGES).index(self.first):
                    continue
                self.listener.stage(name)
                start = time.monotonic()
                record = self._again(name, stage) if self.first == "capture" else stage(self)
                self.seconds[name] = time.monotonic() - start
                if record is None:
                    break
                write(self.folder / f"{position}-{FILES.get(name, name)}.json", record)
        finally:
            self.seconds["total"] = time.monotonic() - began
            self.summarise()
            self.stop()
        self.report = readable(self.report)
        write(self.folder / "report.json", self.report)
        return self.report

    def _again(self, name: str, stage: Callable[[Run], Any]) -> Any:
        """Run a stage; if the process that holds the model was killed, capture the model once more and repeat it."""
        for left in range(LIVES, -1, -1):
            try:
                return stage(self)
            except SessionLost as lost:
                if not left:
                    raise
                self.listener.say(f"{str(lost).splitlines()[0]}; once more from the start")
            self._restore(name)
        raise InternalError("unreachable: the loop above returns or raises")

    def _restore(self, name: str) -> None:
        """Bring back what a stage needs after the session was lost; a loss on the way is met by the next attempt."""
        if name == "capture":
            return
        self.traces.clear()
        with contextlib.suppress(SessionLost):
            stage_capture(self)
            if name == "localise":
                stage_compare(self)


def stage_capture(run: Run) -> dict[str, Any]:
    """Model -> graph of ATen steps, checked to replay to the model's own outputs."""
    options, worker = run.options, run.pair.reference.worker
    worker.ensure()
    run.foresee()
    run.captured = found = capture(
        worker, options.model, options.inputs, seed=options.seed, rung=options.rung, train=options.train
    )
    run.seconds["build"] = found.seconds["build"]
    run.seconds["forwards"] = found.seconds["forward"]
    exact = "bit for bit" if found.replay_exact else f"within {found.replay_worst:.3g}"
    run.listener.say(
        f"{len(found.graph.nodes)} steps, {found.parameters:,} parameters in {len(found.state)} state entries; "
        f"captured by the rung {found.rung!r}, replays {exact}"
    )
    fed = [found.specs[name] for name in found.graph.inputs]
    run.report["original"] = {
        "nodes": len(found.graph.nodes),
        "elements": sum(math.prod(spec.shape) for spec in fed),
        "shapes": [list(found.specs[name].shape) for name, kind in found.kinds.items() if kind == "input"],
        "dtypes": sorted({spec.dtype for spec in fed}),
        "layouts": dict(Counter(str(spec.layout) for spec in fed)),
        "rung": found.rung,
        "parameters": found.parameters,
    }
    return {"graph": codec.plain(found.graph), "rung": found.rung, "replay_exact": found.replay_exact,
            "inputs": {name: str(spec) for name, spec in found.specs.items()}}


def stage_compare(run: Run) -> dict[str, Any] | None:
    """Every state entry and every step on both sides, with pinned inputs."""
    captured, record = run.captured, {}
    run.pair.candidate.worker.ensure()
    if "load" in run.options.modes and captured.state:
        stream = Stream(run.pair, run.template, run.listener.progress)
        keys = {entry.name: entry.key for entry in captured.state}
        turned = [entry.name for entry in captured.state if entry.turned]
        run.traces.append(stream.load(keys, captured.graph, turned))
        run.foresee()
    if "forward" in run.options.modes:
        stream = Stream(run.pair, run.template, run.listener.progress)
        before = run.pair.candidate.worker.computed_seconds
        run.traces.append(stream.forward(captured.graph, captured.specs))
        run.seconds["forwards"] += run.pair.candidate.worker.computed_seconds - before
    trained = [name for name, kind in captured.kinds.items() if kind == "parameter"]
    for kind in (Gradients, SecondOrder):
        if kind.mode in run.options.modes:
            template = msgspec.structs.replace(run.template, mode=kind.mode)
            run.traces.append(kind(run.pair, template, trained, run.listener.progress).forward(captured.graph, captured.specs))
    for trace in run.traces:
        run.listener.say(describe_trace(trace))
        record[trace.mode] = [checked(item) for item in trace.checked]
    run.foresee()
    run.report["compared"] = {trace.mode: counts(trace) for trace in run.traces}
    return record


def stage_localise(run: Run) -> dict[str, Any] | None:
    """The step that is wrong on right inputs; failing that, the steps that are wrong together."""
    sites = [(trace, site) for trace in run.traces for site in trace.sites]
    if not sites:
        found = _interaction(run)
        if found is None:
            return None
        sites = [found]
    sites = _without_legal(run, sites)
    if not sites:
        _uncompared(run)
        return None
    if run.options.site >= len(sites):
        raise UsageError(f"expected a site below {len(sites)}, found --site {run.options.site}; see 2-compare.json")
    trace, run.site = sites[run.options.site]
    if trace is not None:
        run.case = _one_step(run, trace, run.site)
    node, found = run.site.node, run.site.comparison.divergence
    assert found is not None
    for number, (_, other) in enumerate(sites):
        if other is not run.site and other.comparison.divergence is not None:
            detail = other.comparison.divergence.detail
            run.listener.say(f"another finding (--site {number}): {other.node.op} in {other.node.path!r}: {detail}")
    where = " ".join(filter(None, (repr(node.path or "the root module"), node.source)))
    run.listener.say(f"{node.op} in {where}: {found.detail}")
    run.report["site"] = {
        "module": node.path, "op": node.op, "source": node.source, "divergence": codec.plain(found),
        "further": [f"{s.node.op} in {s.node.path}" for _, s in sites if s is not run.site],
    }
    return run.report["site"]


def _one_step(run: Run, trace: Trace, site: Site) -> Case:
    graph = Graph(tuple(site.feeds), (site.node,), site.node.outputs)
    return msgspec.structs.replace(run.template, graph=graph, feeds=site.feeds, mode=trace.mode)


def _without_legal(run: Run, sites: list[tuple[Trace | None, Site]]) -> list[tuple[Trace | None, Site]]:
    """Report the sites that a documented difference or a setting explains, and keep the others."""
    left = []
    for trace, site in sites:
        found = site.comparison.divergence
        if trace is not None and found is not None:
            scene = Scene(run.pair, _one_step(run, trace, site), site.reference, site.candidate, found)
            if _legal(run, scene, site.node):
                continue
        left.append((trace, site))
    return left


def _legal(run: Run, scene: Scene, node: Node) -> bool:
    """Report a divergence that a documented difference or a setting explains; False if none does."""
    told = legal(scene)
    if told is not None:
        run.report.setdefault(kind_of(told), []).append(excused(node, told, run.listener))
        run.verdict = "policy" if "policies" in run.report else "convention"
    return told is not None


def _uncompared(run: Run) -> bool:
    """Say which steps could not be compared, if there are any: without them nothing acquits the model."""
    whys = sorted({item.comparison.why for trace in run.traces for item in trace.of("unsupported")})
    for why in whys:
        run.verdict = "unsupported"
        run.report.setdefault("unsupported", []).append(why)
        run.listener.say(f"not compared: {why}")
    return bool(whys)


def _interaction(run: Run) -> tuple[Trace | None, Site] | None:
    """What the whole graph says when no single step is guilty; sets the verdict."""
    if _uncompared(run):
        return None
    if any(trace.of("arithmetic") for trace in run.traces):
        run.verdict = "arithmetic"
    forward = next((trace for trace in run.traces if trace.mode == "forward"), None)
    if forward is None:
        return None
    whole = EndToEnd(run.pair, run.template, run.captured.graph, forward.specs)
    start = time.monotonic()
    run.end_to_end = whole.compare()
    run.seconds["end_to_end"] = time.monotonic() - start
    run.report["end_to_end"] = {"verdict": run.end_to_end.verdict, "ratio": run.end_to_end.ratio}
    if run.end_to_end.verdict != "diverges":
        run.listener.say(f"end to end: {run.end_to_end.why or 'the outputs agree'}")
        return None
    run.listener.say("no single step is wrong on right inputs, but the outputs differ: searching for steps together")
    site = whole.search()
    run.report["graph_queries"] = whole.queries
    if site is None:
        run.verdict = "arithmetic"
        run.listener.say("no set of steps diverges with pinned inputs: the difference builds up along the graph")
        return None
    run.case = whole.case(whole.found)
    return None, site


def stage_diagnose(run: Run) -> dict[str, Any] | None:
    """Why, and whose fault, by experiments that predict something."""
    run.case, comparison, left, right = alone(run.pair, run.case)
    if comparison.divergence is None and run.first == "diagnose":
        run.verdict = comparison.verdict if comparison.verdict in EXIT else "clean"
        run.listener.say(f"the case does not diverge: {comparison.why or comparison.verdict}")
        run.report["compared"] = {}
        return None
    if comparison.divergence is None:
        raise InternalError(
            f"{run.site.node.op} diverged in the session but not alone ({comparison.verdict} {comparison.why}); "
            f"the bug needs state between steps. The run folder {run.folder} has the evidence"
        )
    if isinstance(left, Completed):
        # A hang costs the whole deadline at every query, so it follows what the reference needs from here on.
        run.pair.deadline_s = min(run.options.deadline_s, max(5.0, 10.0 * left.seconds))
    run.signature = identity(run.case, comparison, left, right)
    run.oracle = oracle = _oracle(run)
    oracle.observe(oracle.weigh(run.case, comparison, left, right))
    if oracle.start is not run.case:
        run.case = oracle.start
        comparison, left, right = oracle.witness() or run.pair.compare(run.case)
    if oracle.rate is not None:
        run.listener.say(f"not in every run: it shows {oracle.rate}")
    elif oracle.calm:
        run.listener.say(f"it shows in every run with {oracle.calm}")
    assert comparison.divergence is not None
    scene = Scene(run.pair, run.case, left, right, comparison.divergence, oracle.rate)
    if run.first == "diagnose" and oracle.rate is None and _legal(run, scene, run.site.node):
        return None
    run.diagnosis = diagnose(scene)
    run.listener.say(f"{run.diagnosis.sentence} ({run.diagnosis.side})")
    run.report["signature"] = codec.plain(run.signature)
    return codec.plain(run.diagnosis)


def _oracle(run: Run) -> Oracle:
    def say(queries: int, best: Case) -> None:
        run.listener.progress(queries, 0, f"{best.elements} elements, {len(best.graph.nodes)} steps")

    limits = run.options.max_queries, run.options.max_seconds
    return Oracle(run.pair, run.case, run.signature, run.folder, *limits, say)


def stage_shrink(run: Run) -> dict[str, Any]:
    """The smallest case with the same signature."""
    run.reduction = shrink(run.oracle)
    queries = run.reduction.queries
    run.listener.say(f"{run.reduction.case.summary()} after {queries['warm']} queries")
    if not run.reduction.complete:
        run.listener.say(f"the budget ended first; continue with: minrepro shrink --resume {run.folder}")
    run.report["queries"] = dict(queries)
    run.report["rate"] = rates(run.oracle.rate, run.reduction.rate, run.oracle.calm)
    run.report["final"] = shape_of(run.reduction.case)
    run.report["slipped"] = [aside(run.folder, number, *s) for number, s in enumerate(run.reduction.slipped, 1)]
    for other in run.report["slipped"]:
        run.listener.say(f"another bug on the way: {other['signature']}; reduce it with: {other['command']}")
    return codec.plain(run.reduction)


def stage_emit(run: Run) -> Finding:
    """A script of one framework, and the issue text."""
    case = run.reduction.case
    if run.oracle.evidence is None:
        raise InternalError(f"the reduced case {case.summary()} does not diverge when asked again")
    comparison, left, right = run.oracle.evidence
    assert comparison.divergence is not None
    node = run.site.node
    run.finding = finding(
        run.pair, case, comparison, left, right, identity(case, comparison, left, right), run.diagnosis,
        run.options.model, f"{node.path or 'root'} {node.op} {node.source}".strip(), run.reduction.rate,
    )
    _write_script(run)
    again = diagnose(Scene(run.pair, case, left, right, comparison.divergence, run.reduction.rate))
    if again.cause != UNEXPLAINED or run.diagnosis.cause == UNEXPLAINED:
        # The smallest case may be too small for an experiment that confirmed the cause on the case as found.
        run.diagnosis = again
        run.finding = msgspec.structs.replace(run.finding, diagnosis=again)
        _write_script(run)
    run.report["diagnosis"] = codec.plain(run.diagnosis)
    return run.finding


def _write_script(run: Run) -> None:
    """Write the script and begin to run it: the cause that is looked into meanwhile seldom changes what it does."""
    run.repro = emit(run.finding, run.folder, run.pair.specs(run.finding.case))
    if run.finding.rate is None:
        run.processes().begin(run.repro.text, run.options.runs)


def stage_verify(run: Run) -> Verified:
    """The script alone, in fresh processes."""
    side, processes = run.side, run.processes()
    processes.begin(run.repro.text, run.options.runs)
    run.close()
    run.verified = result = verify(
        run.repro, run.finding, side.worker.interpreter, runs=run.options.runs, replay_file=side.replay, ahead=processes
    )
    if result.ok and result.flaky and run.finding.rate is None:
        # Only fresh processes show it now and then: script and issue have to say so.
        run.finding = msgspec.structs.replace(run.finding, rate=Rate(result.reproduced, result.runs))
        run.repro = emit(run.finding, run.folder, run.pair.specs(run.finding.case))
        write(run.folder / "6-emit.json", run.finding)
    run.verdict = "divergence" if result.ok else "unverified"
    alone = "" if result.without_replay is None else f"; without the replay it ends with {result.without_replay}"
    run.listener.say(f"reproduced in {result.reproduced} of {result.runs} fresh processes{alone}")
    run.report["queries"]["cold"] = result.runs + (result.without_replay is not None)
    run.report["repro"] = {"path": run.repro.script, "lines": run.repro.lines, "sha256": run.repro.sha256}
    run.report["verified"] = {
        "runs": result.runs, "reproduced": result.reproduced, "flaky": run.finding.rate is not None,
        "without_replay": result.without_replay, "environment": dict(result.environment),
    }
    return result


def stage_corpus(run: Run) -> Repro | None:
    """The last piece of what `minrepro corpus add` stores; nothing if the script does not reproduce."""
    return run.repro if run.verified.ok else None


STAGES: Mapping[str, Callable[[Run], Any]] = {
    "capture": stage_capture,
    "compare": stage_compare,
    "localise": stage_localise,
    "diagnose": stage_diagnose,
    "shrink": stage_shrink,
    "emit": stage_emit,
    "verify": stage_verify,
    "corpus": stage_corpus,
}
FILES = {"corpus": "entry"}
"""Stages whose file has another name."""
