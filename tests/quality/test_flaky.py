"""A bug that shows only now and then is kept, reported with its rate, and freed from noise where that can be done.

``python -m tests.quality.flaky`` prints the table of 200 reductions for each rate.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from minrepro.ir.case import Case
from minrepro.ir.graph import Graph, Node, Ref
from minrepro.ir.reduction import Rate
from minrepro.ir.tensor import Tensor
from minrepro.ops import sample
from minrepro.options import Options
from minrepro.pipeline import Run
from minrepro.record import Listener
from minrepro.shrink.oracle import Oracle
from minrepro.shrink.sequential import CHANCE, enough, sequence

from ..faults import FOLDER
from .flaky import RATES, Single, measure

RUNS = 30


@pytest.mark.parametrize("rate", RATES)
def test_a_flaky_bug_is_kept(rate: float) -> None:
    row = measure(Oracle, rate, RUNS)
    assert row.kept == 1.0
    assert row.minimal >= 0.9


def test_one_run_for_a_question_loses_it() -> None:
    assert measure(Single, 0.5, RUNS).kept < 0.9


@pytest.mark.parametrize("rate, yes", [(0.9, True), (0.5, True), (0.2, True), (0.02, False), (0.0, False)])
def test_the_sequential_test_keeps_its_error_rates(rate: float, yes: bool) -> None:
    draw, wrong = random.Random(0), 0
    start = Rate(round(100 * rate), 100) if yes else Rate(50, 100)
    for _ in range(2000):
        test = sequence(start, CHANCE)
        while test.decision is None:
            test.add(draw.random() < rate)
        wrong += test.decision is not yes
    assert wrong <= (0.05 * 2000 if yes else 2)


def test_as_many_runs_as_are_needed_to_meet_it_again() -> None:
    assert [enough(share, 0.01) for share in (1.0, 0.9, 0.5, 0.2)] == [1, 2, 7, 21]


@pytest.fixture
def reduce(python_of) -> Callable[..., dict]:
    """A whole run from a diverging step on."""
    torch = f"torch@{python_of('torch')}"

    def run(fault: str, op: str, feed: Tensor, folder: Path, threads: int = 1) -> dict:
        candidate = f"{torch}+replay:{FOLDER / fault}.py"
        node = Node(op, {"self": Ref("x")}, ("out",))
        case = Case(Graph(("x",), (node,), ("out",)), {"x": feed}, torch, candidate, threads=threads)
        stages = Run(Options("", candidate, torch, deadline_s=20.0, threads=threads), folder, Listener())
        stages.start_at(case)
        return stages.execute()

    return run


def test_the_rate_is_in_the_report_the_issue_and_the_script(tmp_path: Path, reduce) -> None:
    report = reduce("flaky_gelu", "gelu", sample.normal(4, 9), tmp_path)
    assert report["verdict"] == "divergence" and report["diagnosis"]["cause"] == "non-determinism"
    assert report["rate"]["start"]["runs"] >= 10
    assert 0.4 <= report["rate"]["final"]["matches"] / report["rate"]["final"]["runs"] <= 0.6
    assert report["final"]["shapes"] == [[7]]
    assert report["verified"]["flaky"] and report["verified"]["reproduced"] >= 1
    assert "% of runs" in (tmp_path / "issue.md").read_text()
    assert "# It shows in about" in (tmp_path / "repro.py").read_text()
    assert "sometimes gives wrong values" in (tmp_path / "repro.py").read_text()


def test_one_thread_is_tried_first(tmp_path: Path, reduce) -> None:
    report = reduce("flaky_threads", "gelu", sample.normal(4, 9), tmp_path, threads=2)
    assert report["rate"] == {"start": None, "final": None, "calm": "one thread"}
    assert report["final"]["shapes"] == [[7]]
    assert report["verified"]["reproduced"] == report["verified"]["runs"] == 3
    assert "threads: 1" in (tmp_path / "issue.md").read_text()


def test_memory_is_filled_if_that_ends_the_noise(tmp_path: Path, reduce) -> None:
    report = reduce("flaky_memory", "relu", sample.normal(4, 40), tmp_path)
    assert report["rate"]["calm"] == "fresh memory filled with a known byte"
    assert report["diagnosis"]["cause"] == "uninitialised memory"
    assert report["verified"]["reproduced"] == report["verified"]["runs"] == 3
    assert "mallopt" in (tmp_path / "repro.py").read_text()


def test_an_interrupted_run_remembers_how_often_the_start_shows_it(tmp_path: Path, reduce) -> None:
    first = reduce("flaky_gelu", "gelu", sample.normal(4, 9), tmp_path)
    journal = [json.loads(line) for line in (tmp_path / "journal.jsonl").read_text().splitlines()]
    again = reduce("flaky_gelu", "gelu", sample.normal(4, 9), tmp_path)
    assert again["rate"]["start"] == first["rate"]["start"] and again["final"] == first["final"]
    asked = {record["end"] for record in journal if "end" in record}
    assert again["queries"]["journal"] == len(asked)
