"""What a run is about and what its stages found: the one thing that all stages of `pipeline` share."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Any

from minrepro.capture import Captured
from minrepro.compare.pair import Pair, Side, open_side
from minrepro.ir import codec
from minrepro.ir.case import Case
from minrepro.ir.divergence import Comparison, Site
from minrepro.ir.graph import Graph
from minrepro.ir.outcome import Completed
from minrepro.ir.reduction import Diagnosis, Finding, Reduction, Repro, Verified
from minrepro.ir.signature import Signature
from minrepro.localise.streaming import Trace
from minrepro.options import OPTIONS, Options
from minrepro.record import Listener, shape_of, write
from minrepro.shrink.oracle import Oracle
from minrepro.verify.ahead import Ahead

CASE = "case.json"
"""What a run starts at that is given a case and no model."""


class State:
    """One reduction from model to verified script: options, folder, workers, and what the stages found.

    Args:
        options: what was asked.
        folder: run folder; an earlier run there is continued, no query is asked twice.
        listener: told what happens.
    """

    def __init__(self, options: Options, folder: Path, listener: Listener):
        self.options, self.folder, self.listener = options, folder, listener
        folder.mkdir(parents=True, exist_ok=True)
        write(folder / OPTIONS, options)
        self.seconds: dict[str, float] = {}
        self.verdict = "clean"
        self.report: dict[str, Any] = {}
        self.pair: Pair = self._open()
        self._ahead: Ahead | None = None
        self.captured: Captured
        self.traces: list[Trace] = []
        self.end_to_end: Comparison | None = None
        self.site: Site
        self.case: Case
        self.signature: Signature
        self.oracle: Oracle
        self.diagnosis: Diagnosis
        self.reduction: Reduction
        self.finding: Finding
        self.repro: Repro
        self.verified: Verified
        self.first = "capture"
        if not options.model and (folder / CASE).is_file():
            self.start_at(codec.decode((folder / CASE).read_bytes()))

    def start_at(self, case: Case) -> None:
        """Take a diverging case for what the stages before `diagnose` would have found."""
        self.case, self.first = case, "diagnose"
        write(self.folder / CASE, case)
        self.site = Site(case.graph.nodes[0], case.feeds, Comparison("diverges"), Completed({}), Completed({}))
        self.report["original"] = shape_of(case)

    def _open(self) -> Pair:
        reference = open_side(self.options.reference, self.folder)
        try:
            candidate = open_side(self.options.candidate, self.folder)
        except BaseException:
            reference.worker.stop()
            raise
        return Pair(reference, candidate, self.folder, self.options.deadline_s)

    @property
    def template(self) -> Case:
        """A case with this run's settings and nothing in it."""
        options = self.options
        return Case(
            Graph((), (), ()), {}, options.reference, options.candidate, "forward", options.threads, options.seed
        )

    @property
    def side(self) -> Side:
        """The side that the script is about."""
        return self.pair.reference if self.finding.side == "reference" else self.pair.candidate

    def foresee(self) -> None:
        """Start beside the search what it will need at its end; under a replay a script is to be expected from the start."""
        if any(trace.sites for trace in self.traces):
            self.pair.numpy.worker.start()
        self._processes(self.pair.candidate, self.options.threads).prepare(self.options.runs)

    def processes(self) -> Ahead:
        """The fresh processes that have the last word on the script."""
        return self._processes(self.side, self.finding.case.threads)

    def _processes(self, side: Side, threads: int) -> Ahead:
        under = (side.spec.backend.path, str(side.replay)) if side.replay is not None else None
        kind = side.worker.interpreter, threads, under
        if self._ahead is None or self._ahead.kind != kind:
            if self._ahead is not None:
                self._ahead.stop()
            self._ahead = Ahead(*kind)
        return self._ahead

    def stop(self) -> None:
        """End every process."""
        self.pair.stop()
        if self._ahead is not None:
            self._ahead.stop()

    def close(self) -> None:
        """End the sessions: nobody asks for the model any more."""
        for side in (self.pair.reference, self.pair.candidate):
            if side.worker.ready:
                side.worker.close()

    def summarise(self) -> None:
        """Complete `report` with what every run has."""
        sides = {"reference": self.pair.reference, "candidate": self.pair.candidate}
        peaks: dict[str, Any] = {"host": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}
        self.close()
        for name, side in sides.items():
            self.report[name] = {"spec": str(side.spec), "versions": side.versions()}
            peaks[name] = {"peak": side.worker.peak_bytes, "after_import": side.worker.import_bytes}
        imports = sum(side.worker.import_seconds for side in sides.values())
        self.report = {
            "verdict": self.verdict,
            "model": self.options.model,
            "mode": list(self.options.modes),
            "replay": self.pair.candidate.spec.replay or None,
            **self.report,
            "seconds": {"imports": imports, **self.seconds},
            "peak_bytes": peaks,
        }
