"""One planted fault through capture, localisation and reduction, with everything counted."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Callable

import msgspec

from minrepro.capture import Captured, capture
from minrepro.compare.pair import Pair, Side, open_side
from minrepro.ir.case import Case
from minrepro.ir.divergence import Site
from minrepro.ir.graph import Graph
from minrepro.ir.reduction import Reduction
from minrepro.localise.interaction import EndToEnd
from minrepro.localise.streaming import Stream, Trace
from minrepro.shrink import shrink
from minrepro.shrink.oracle import Oracle, signature_of

from . import Fault

DEADLINE_S = 2.0
"""A step of these models takes milliseconds; hangs are to be found quickly."""


def torch_spec() -> str:
    """The torch that is used on both sides: ``MINREPRO_TEST_TORCH``, or the one of the cache."""
    return os.environ.get("MINREPRO_TEST_TORCH", "torch")


class Ground:
    """A captured model in a reference worker, shared by the faults that it hides."""

    def __init__(self, model: str, folder: Path, rung: str = "auto", torch: str = ""):
        self.model, self.folder = model, folder
        self.torch = torch or torch_spec()
        self.reference: Side = open_side(self.torch, folder)
        self.captured: Captured = capture(self.reference.worker, model, rung=rung)

    def stop(self) -> None:
        """End the worker."""
        self.reference.worker.stop()


class Found(msgspec.Struct):
    """Where a fault was localised, ready to be reduced.

    Attributes:
        oracle: holds the start case and the signature; `observe` was called.
        passes: runs of the whole graph on the candidate.
        subsets: runs of parts of it, in the search for steps that are wrong together.
        seconds: wall time of the localisation.
    """

    oracle: Oracle
    passes: int
    subsets: int
    seconds: float


class NotFound(Exception):
    """The localisation did not find what was planted."""


def find(fault: Fault, ground: Ground, folder: Path, ready: Callable[[Pair], None] = lambda pair: None) -> Found:
    """Localise a planted fault; the caller stops the candidate's worker.

    Args:
        fault: what to find.
        ground: the model that hides it.
        folder: where logs and the journal go.
        ready: called when the candidate is imported and nothing was run yet.

    Raises:
        NotFound: if nothing, or another operator than the planted one, is found guilty.
    """
    folder.mkdir(parents=True, exist_ok=True)
    candidate = open_side(ground.torch + fault.candidate, folder)
    pair = Pair(ground.reference, candidate, folder, DEADLINE_S)
    try:
        candidate.worker.ensure()
        ready(pair)
        return _find(fault, ground, pair, folder)
    except BaseException:
        pair.stop(reference=False)
        raise


def _find(fault: Fault, ground: Ground, pair: Pair, folder: Path) -> Found:
    began = time.monotonic()
    template = Case(Graph((), (), ()), {}, "torch", "torch", fault.mode)
    stream = Stream(pair, template)
    passes, subsets = 1, 0
    if fault.mode == "load":
        entries = ground.captured.state
        trace = stream.load({e.name: e.key for e in entries}, ground.captured.graph)
    else:
        trace = stream.forward(ground.captured.graph, ground.captured.specs)
    if trace.sites:
        case = _one_step(trace, trace.sites[0], template)
    else:
        whole = EndToEnd(pair, template, ground.captured.graph, trace.specs)
        verdict = whole.compare()
        if verdict.verdict != "diverges" or whole.search() is None:
            raise NotFound(f"no step is guilty, and end to end it says {verdict.verdict} {verdict.why}")
        case, passes, subsets = whole.case(whole.found), 2, whole.queries
    comparison, left, right = pair.compare(case)
    signature = signature_of(case, comparison, right, left)
    if signature is None:
        raise NotFound(f"{case.summary()} says {comparison.verdict} {comparison.why} when it is asked alone")
    oracle = Oracle(pair, case, signature, folder)
    oracle.observe()
    return Found(oracle, passes, subsets, time.monotonic() - began)


def _one_step(trace: Trace, site: Site, template: Case) -> Case:
    graph = Graph(tuple(site.feeds), (site.node,), site.node.outputs)
    return msgspec.structs.replace(template, graph=graph, feeds=site.feeds, mode=trace.mode)


class Row(msgspec.Struct):
    """One line of the table."""

    fault: str
    family: str
    model: str
    ops: tuple[str, ...] = ()
    nodes: int = 0
    elements: int = 0
    warm: int = 0
    probes: int = 0
    passes: int = 0
    subsets: int = 0
    slipped: bool = False
    seconds: float = 0.0
    summary: str = ""
    queries: dict[str, int] = {}
    error: str = ""


def hunt(fault: Fault, ground: Ground, folder: Path) -> Row:
    """Find and reduce a planted fault."""
    row = Row(fault.name, fault.family, fault.model)
    began = time.monotonic()
    try:
        found = find(fault, ground, folder)
    except NotFound as error:
        row.error = str(error)
        return row
    try:
        reduction = shrink(found.oracle)
        row.slipped = _slipped(fault, found.oracle.pair, reduction)
    finally:
        found.oracle.pair.stop(reference=False)
    case = reduction.case
    row.ops, row.nodes = tuple(node.op for node in case.graph.nodes), len(case.graph.nodes)
    row.elements, row.summary = case.elements, case.summary()
    row.queries = dict(reduction.queries)
    row.warm, row.probes = reduction.queries["warm"], reduction.queries["probes"]
    row.passes, row.subsets, row.seconds = found.passes, found.subsets, time.monotonic() - began
    return row


def _slipped(fault: Fault, pair: Pair, reduction: Reduction) -> bool:
    """True if the final case, asked again, is not what was planted: another symptom or another operator."""
    comparison, _, _ = pair.compare(reduction.case)
    found = comparison.divergence
    ops = tuple(node.op for node in reduction.case.graph.nodes)
    return found is None or (found.symptom, ops) != (fault.symptom, fault.ops)
