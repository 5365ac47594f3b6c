"""Every sample of every operator on every backend that spells it, against torch and the float64 references."""

from __future__ import annotations

from typing import Any, Mapping

import pytest

from minrepro import backends, ops
from minrepro.compare.verdict import Question, judge
from minrepro.ir.case import Case
from minrepro.ir.graph import Graph, Node, Ref
from minrepro.ir.outcome import Completed
from minrepro.ir.tensor import Tensor

FAMILIES = sorted({row.name for row in ops.table().values()})


def build(row: ops.Op, sample: Mapping[str, Any]) -> Case:
    """The case of one sample: tensors become feeds, everything else stays an argument."""
    feeds: dict[str, Tensor] = {}

    def argument(name: str, value: Any) -> Any:
        if isinstance(value, Tensor):
            feeds[f"v_{name}"] = value
            return Ref(f"v_{name}")
        if isinstance(value, (list, tuple)):
            return tuple(argument(f"{name}_{i}", item) for i, item in enumerate(value))
        return value

    args = {name: argument(name, value) for name, value in sample.items() if not name.startswith("_")}
    count = sample.get("_outputs", 1)
    outputs = tuple(f"out{i}" for i in range(count)) if count > 1 else ("out",)
    return Case(Graph(tuple(feeds), (Node(row.name, args, outputs),), outputs), feeds, "torch", "torch")


@pytest.mark.parametrize("op", FAMILIES)
def test_samples_run_on_torch(op: str, workers) -> None:
    row = ops.table()[op]
    assert row.samples, f"{op} has no sample"
    if not backends.table()["torch"].spells_op(row):
        pytest.skip(f"{op} is not a torch operator")
    from minrepro.backends.program import program

    for number, sample in enumerate(row.samples):
        case = build(row, sample)
        text = program(case.graph, {n: t.spec for n, t in case.feeds.items()}, backends.table()["torch"])
        outcome = workers("torch").run(text, case.feeds, case.graph.outputs)
        assert isinstance(outcome, Completed), f"{op} sample {number}: {outcome}"
        same = judge(Question(row.kind, 1, case.graph.outputs), outcome, outcome)
        assert same.verdict == "same", f"{op} sample {number} differs from itself: {same}"


def test_at_least_150_operators_on_each_framework() -> None:
    coverage = backends.coverage()
    for name in ("torch", "paddle", "oneflow"):
        spelled = sum(name in given for given in coverage.values())
        assert spelled >= 150, f"{name} spells {spelled} operators"
