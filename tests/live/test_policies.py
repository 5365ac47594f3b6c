"""A precision setting on the candidate is a verdict of its own, with the line to change; a kernel that is narrow is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from minrepro.ir.case import Case
from minrepro.ir.graph import Graph, Node, Ref
from minrepro.ops.sample import normal
from minrepro.options import Options
from minrepro.pipeline import EXIT, Run
from minrepro.record import Listener
from tests.faults import FOLDER


@pytest.fixture
def report(python_of, tmp_path: Path):
    """The report of a run under a fault."""
    torch = f"torch@{python_of('torch')}"

    def run(fault: str) -> dict:
        model = f"{FOLDER / 'models' / 'gelu_between.py'}:build"
        options = Options(model, f"{torch}+replay:{FOLDER / fault}.py", torch, modes=("forward",), deadline_s=20.0)
        return Run(options, tmp_path / fault, Listener()).execute()

    return run


@pytest.mark.parametrize(
    "fault, name, change",
    [
        ("policy_autocast", "autocast", "torch.autocast(device_type, enabled=False) around the step"),
        ("policy_matmul", "float32 matmul precision", 'torch.set_float32_matmul_precision("highest")'),
    ],
)
def test_a_setting_is_a_policy_with_the_line_to_change(fault: str, name: str, change: str, report) -> None:
    found = report(fault)
    assert found["verdict"] == "policy" and EXIT["policy"] == 0
    for row in found["policies"]:
        told = row["diagnosis"]
        assert row["op"] == "linear" and told["cause"] == f"policy: {name}" and told["change"] == change
        assert told["side"] == "neither" and all(probe["confirmed"] for probe in told["probes"])


def test_a_kernel_that_no_setting_cures_stays_a_divergence(report) -> None:
    found = report("cause_bfloat16")
    assert found["verdict"] == "divergence" and found["diagnosis"]["cause"] == "precision policy"
    assert "policies" not in found


def test_a_stored_case_ends_with_the_policy(python_of, tmp_path: Path) -> None:
    torch = f"torch@{python_of('torch')}"
    node = Node("linear", {"input": Ref("x"), "weight": Ref("w")}, ("out",))
    options = Options("", f"{torch}+replay:{FOLDER / 'policy_autocast'}.py", torch, deadline_s=20.0)
    feeds = {"x": normal(4, 32), "w": normal(8, 32)}
    run = Run(options, tmp_path / "run", Listener())
    run.start_at(Case(Graph(("x", "w"), (node,), ("out",)), feeds, torch, options.candidate))
    found = run.execute()
    assert found["verdict"] == "policy" and "repro" not in found
    assert [row["diagnosis"]["cause"] for row in found["policies"]] == ["policy: autocast"]


def test_a_convention_does_not_hide_what_was_not_compared(python_of, tmp_path: Path) -> None:
    text = "import torch\nclass Ranked(torch.nn.Module):\n    def forward(self, x):\n"
    text += "        return torch.sort(x)[1], torch.histc(x, 4)\n\n\ndef build():\n    return Ranked(), torch.randn(2, 9)\n"
    (tmp_path / "ranked.py").write_text(text)
    options = Options(
        f"{tmp_path / 'ranked.py'}:build", f"oneflow@{python_of('oneflow')}", f"torch@{python_of('torch')}", modes=("forward",)
    )
    found = Run(options, tmp_path / "run", Listener()).execute()
    assert found["verdict"] == "unsupported" and any("histc" in why for why in found["unsupported"])
    assert [row["op"] for row in found["conventions"]] == ["sort"]
