"""What the verdict costs: a teacher-forced pass with it, against the same pass in which every step is waved through.

    python -m tests.quality.judging [MODEL ...]

Both are measured in one run, in turns, on real wheels; the second one still runs every step on both sides and carries
every value across.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from minrepro.ir.divergence import Comparison
from minrepro.localise import streaming
from minrepro.localise.streaming import Stream
from minrepro.options import Options
from minrepro.pipeline import Listener, Run, stage_capture

ROUNDS = 3
"""Passes of each kind; the fastest one counts."""


def seconds(run: Run, judged: bool) -> float:
    """One pass over the captured graph."""
    kept = streaming.judge
    if not judged:
        streaming.judge = lambda question, left, right: Comparison("same")
    try:
        start = time.monotonic()
        Stream(run.pair, run.template).forward(run.captured.graph, run.captured.specs)
        return time.monotonic() - start
    finally:
        streaming.judge = kept


def cost(model: str, candidate: str) -> tuple[float, float]:
    """(seconds with the verdict, seconds without) of the fastest pass of each kind."""
    with tempfile.TemporaryDirectory() as folder:
        run = Run(Options(model, candidate), Path(folder), Listener())
        try:
            times: dict[bool, list[float]] = {True: [], False: []}
            for _ in range(ROUNDS):
                for judged in (True, False):
                    stage_capture(run)
                    run.pair.candidate.worker.ensure()
                    times[judged].append(seconds(run, judged))
        finally:
            run.pair.stop()
    return min(times[True]), min(times[False])


def main() -> None:
    """Print the table."""
    print(f"{'model':<14} {'candidate':<9} {'judged':>9} {'unjudged':>9} {'ratio':>6}")
    for model in sys.argv[1:] or ("mixer", "vit_tiny", "bert_tiny"):
        for candidate in ("paddle", "oneflow"):
            judged, unjudged = cost(model, candidate)
            print(f"{model:<14} {candidate:<9} {judged:8.2f}s {unjudged:8.2f}s {judged / unjudged:6.2f}")


if __name__ == "__main__":
    main()
