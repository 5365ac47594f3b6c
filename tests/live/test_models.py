"""Whole models of kinds that nobody tuned minrepro for: a port of each is right on Paddle and on OneFlow.

No finding, nothing left out, and a capture that replays bit for bit at the first try. The workers are shared, so that
a model costs its own steps and not another import.
"""

from __future__ import annotations

import os
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Callable

import pytest

from minrepro.compare.pair import Pair
from minrepro.options import Options
from minrepro.pipeline import EXIT, STAGES, Listener, Run

FOLDER = Path(__file__).with_name("models")
MODELS = sorted(path.stem for path in FOLDER.glob("*.py") if "def build(" in path.read_text())
AGREED = {"same", "arithmetic"}


class Shared(Run):
    """A run on a pair that is already there."""

    def __init__(self, options: Options, folder: Path, pair: Pair | None):
        self._given = pair
        super().__init__(options, folder, Listener())

    def _open(self) -> Pair:
        return self._given or super()._open()


@pytest.fixture(scope="module")
def compared(python_of, tmp_path_factory):
    """(candidate, model) -> a run that has captured, compared and localised it."""
    pairs: dict[str, Pair] = {}

    @cache
    def spec(name: str) -> str:
        return os.environ.get(f"MINREPRO_TEST_{name.upper()}", f"{name}@{python_of(name)}")

    def ask(candidate: str, model: str) -> Run:
        options = Options(f"{FOLDER / model}.py:build", spec(candidate), spec("torch"))
        run = Shared(options, tmp_path_factory.mktemp(model), pairs.get(candidate))
        pairs[candidate] = run.pair
        for name in ("capture", "compare", "localise"):
            if STAGES[name](run) is None:
                break
        return run

    yield ask
    for pair in pairs.values():
        pair.stop()


def test_there_are_models_to_try() -> None:
    assert len(MODELS) >= 8


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("candidate", ["paddle", "oneflow"])
def test_a_right_port_has_no_finding(compared: Callable[[str, str], Run], candidate: str, model: str) -> None:
    run = compared(candidate, model)
    assert (run.captured.rung, run.captured.replay_exact) == ("log", True), run.captured.failures
    assert [trace.mode for trace in run.traces] == ["load", "forward"]
    assert not [site.comparison.divergence for trace in run.traces for site in trace.sites]
    said = Counter(
        (item.op, item.comparison.verdict, item.comparison.why)
        for trace in run.traces for item in trace.checked if item.comparison.verdict not in AGREED
    )
    assert not said
    assert EXIT[run.verdict] == 0, run.report
    assert run.end_to_end is not None and run.end_to_end.verdict in AGREED, run.end_to_end
