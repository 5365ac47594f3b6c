"""Documented differences are told from bugs, and their sources say what the table says they say."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest

from minrepro.compare.pair import Pair, open_side
from minrepro.diagnose import Scene, convention, diagnose
from minrepro.diagnose.conventions import table
from minrepro.ir.case import Case
from minrepro.ir.graph import Graph, Node, Ref
from minrepro.ops.sample import boolean, integers, normal
from minrepro.pipeline import EXIT, Listener, Options, Run

CASES = [
    ("paddle", "one_hot", {"self": integers(4)}, {"num_classes": 6}, 1),
    ("paddle", "hardsigmoid", {"self": normal(8, of="float64")}, {}, 1),
    ("oneflow", "argsort", {"self": normal(5)}, {}, 1),
    ("oneflow", "sort", {"self": normal(5)}, {}, 2),
    ("oneflow", "sort", {"self": integers(64)}, {}, 2),  # equal values, in another order
    ("oneflow", "argwhere", {"self": boolean(5)}, {}, 1),
    (
        "oneflow", "upsample_bilinear2d.vec", {"input": normal(1, 2, 4, 5)},
        {"output_size": None, "align_corners": False, "scale_factors": (1.2, 1.5)}, 1,
    ),
]
READ = """
import importlib, inspect, json, sys
found = {}
for where in json.loads(sys.argv[1]):
    thing = importlib.import_module(where.split(".")[0])
    for part in where.split(".")[1:]:
        thing = getattr(thing, part)
    text = thing.__doc__ or ""
    try:
        text += str(inspect.signature(thing))
    except (TypeError, ValueError):
        pass
    found[where] = text
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def pairs(environment_of, tmp_path_factory):
    """Candidate -> torch against it."""
    opened: dict[str, Pair] = {}

    def ask(candidate: str) -> Pair:
        environment_of("torch"), environment_of(candidate)
        if candidate not in opened:
            folder = tmp_path_factory.mktemp("conventions")
            opened[candidate] = Pair(open_side("torch", folder), open_side(candidate, folder), folder)
        return opened[candidate]

    yield ask
    for pair in opened.values():
        pair.stop()


def scene_of(pair: Pair, op: str, feeds, args, outputs: int = 1) -> Scene:
    """A diverging case of one step."""
    made = ("out",) if outputs == 1 else tuple(f"out{i}" for i in range(outputs))
    node = Node(op, {**{name: Ref(name) for name in feeds}, **args}, made)
    case = Case(Graph(tuple(feeds), (node,), made), feeds, "torch", pair.candidate.spec.name)
    comparison, left, right = pair.compare(case)
    assert comparison.divergence is not None, comparison
    return Scene(pair, case, left, right, comparison.divergence)


@pytest.mark.parametrize("candidate, op, feeds, args, outputs", CASES, ids=[f"{case[0]}-{case[1]}" for case in CASES])
def test_a_convention_is_reported_as_one(candidate, op, feeds, args, outputs, pairs) -> None:
    diagnosis = diagnose(scene_of(pairs(candidate), op, feeds, args, outputs))
    assert diagnosis.cause.startswith("convention: ") and diagnosis.side == "neither"
    assert diagnosis.change and diagnosis.source and all(probe.confirmed for probe in diagnosis.probes)


def test_a_bug_of_the_same_operator_is_none(pairs) -> None:
    """A wrong element is not the convention about the dtype."""
    pair = pairs("paddle")
    scene = scene_of(pair, "one_hot", {"self": integers(4)}, {"num_classes": 6})
    actual = scene.actual
    assert actual is not None and convention(scene) is not None
    base = np.array(actual.base)
    base[0, 0] += 1.0
    wrong = actual.with_base(base)
    outcome = type(scene.candidate)({"out": wrong})
    assert convention(Scene(pair, scene.case, scene.reference, outcome, scene.divergence)) is None


MODEL = """
import torch


class Ranks(torch.nn.Module):
    def forward(self, x):
        return torch.argsort(torch.relu(x) + x, dim=-1)


def model():
    return Ranks(), (torch.tensor([[3.0, -1.0, 2.0, 0.5]]),)
"""


def test_a_run_ends_with_the_convention(tmp_path, environment_of) -> None:
    """No script, no bug, status 0, and the line to change."""
    environment_of("torch"), environment_of("oneflow")
    (tmp_path / "ranks.py").write_text(MODEL)
    options = Options(f"{tmp_path / 'ranks.py'}:model", "oneflow", modes=("forward",))
    report = Run(options, tmp_path / "run", Listener()).execute()
    assert report["verdict"] == "convention" and EXIT["convention"] == 0
    (known,) = report["conventions"]
    assert known["op"] == "argsort" and "oneflow.int64" in known["diagnosis"]["change"]
    assert "repro" not in report


def test_a_stored_case_ends_with_the_convention(tmp_path, environment_of) -> None:
    """As a model does: nothing is reduced, and the report has the source."""
    environment_of("torch"), environment_of("paddle")
    node = Node("one_hot", {"self": Ref("x"), "num_classes": 6}, ("out",))
    case = Case(Graph(("x",), (node,), ("out",)), {"x": integers(4)}, "torch", "paddle")
    run = Run(Options("", "paddle"), tmp_path / "run", Listener())
    run.start_at(case)
    report = run.execute()
    assert report["verdict"] == "convention" and "repro" not in report
    (known,) = report["conventions"]
    assert known["op"] == "one_hot" and known["diagnosis"]["source"].startswith("paddle.nn.functional.one_hot: ")


@pytest.mark.parametrize("framework", sorted(table()))
def test_every_source_says_it(framework: str, python_of) -> None:
    rows = table()[framework]
    command = [python_of(framework), "-c", READ, json.dumps(sorted({row.where for row in rows}))]
    said = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[-1])
    for row in rows:
        plain = " ".join(said[row.where].replace("oneflow.oneflow", "oneflow").split())
        assert row.quote in plain, f"{row.where} does not say {row.quote!r}"
