"""What `minrepro align` says in the cases that cost people days: precision, draws, explosions, versions, loading."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from minrepro import backends, cli, zoo

HERE = Path(__file__).parent
PAIRS = HERE / "models/pairs.py"
PORTS = HERE / "models/pairs_paddle.py"
FAULTS = HERE.parent / "faults"


@pytest.fixture
def align(capsys, monkeypatch, tmp_path, environment_of):
    """Run the command with ``--json``: (exit status, report or message)."""

    def ask(*arguments: str, candidate: str = "paddle", command: str = "align"):
        for name in ("torch", backends.parse(candidate).name):
            environment_of(name)
        out = tmp_path / "run"
        monkeypatch.setattr(
            sys, "argv", ["minrepro", command, *arguments, "--candidate", candidate, "--out", str(out), "--json"]
        )
        with pytest.raises(SystemExit) as stop:
            cli.main()
        printed = capsys.readouterr()
        report = json.loads(printed.out) if printed.out.strip() else printed.err
        return stop.value.code, report

    return ask


def port(model: str, framework: str = "paddle") -> list[str]:
    """Options for the zoo's port of a model, where the reference is another callable."""
    file, function = zoo.ports(framework)[model]
    return ["--port", f"{file}:{function}", "--convert", f"{file}:convert"]


def rows(report: dict, verdict: str) -> list[str]:
    return [row["unit"] for row in report["rows"] if row["verdict"] == verdict]


def test_an_autocast_context_is_named_with_its_line_and_can_be_switched_off(align):
    status, report = align("--model", f"{PAIRS}:autocast", *port("vit_tiny"))
    assert (status, report["verdict"]) == (0, "policy")
    line = PAIRS.read_text().splitlines().index('        with torch.autocast("cpu", dtype=torch.bfloat16):') + 1
    assert any(f"pairs.py:{line}" in row["note"] for row in report["rows"] if row["verdict"] == "policy")
    status, report = align("--model", f"{PAIRS}:autocast", *port("vit_tiny"), "--precision", "float32")
    assert (status, report["verdict"]) == (0, "clean")


def test_draws_are_given_to_the_port_and_blame_nobody_where_they_are_not(align):
    status, report = align("--model", "mar_tiny", "--port", "zoo")
    assert (status, report["verdict"]) == (0, "clean")
    assert report["draws"] and all(draw["taken"] for draw in report["draws"]) and not report["unmatched_draws"]
    status, report = align("--model", "mar_tiny", "--port", "zoo", "--draws", "own")
    assert (status, report["verdict"]) == (1, "draw")
    assert rows(report, "draw") and not rows(report, "port") and not rows(report, "framework")


def test_a_row_that_explodes_is_called_ill_conditioned_with_its_time_step(align):
    status, report = align("--model", f"{PAIRS}:explosive", *port("mar_tiny"))
    assert (status, report["verdict"]) == (0, "clean")
    loss, = (row for row in report["rows"] if row["unit"] == "diffloss.train_diffusion")
    assert "ill-conditioned: row " in loss["note"] and "(t = " in loss["note"] and "owns 100% of the sum" in loss["note"]
    assert loss["seen_here"] > 1.0 > loss["made_here"]


def test_entries_that_the_framework_stores_wrongly_are_named_and_become_a_case(align, tmp_path):
    status, report = align("--model", "mixer_tiny", "--port", "zoo", candidate="oneflow+replay:flat-copy")
    assert (status, report["verdict"]) == (1, "framework")
    wrong = [entry for entry in report["state"]["entries"] if entry["blame"]]
    assert len(wrong) == 7 and {entry["detail"] for entry in wrong} == {"right values in, memory-order values stored"}
    assert (tmp_path / "run/case.json").exists()


def test_a_function_that_is_wrong_without_the_port_is_the_frameworks_and_reduced(align):
    fault = FAULTS / "gelu_dim7.py"
    status, report = align(
        "--model", "mixer_tiny", "--port", "zoo", candidate=f"torch+replay:{fault}", command="shrink")
    assert (status, report["verdict"]) == (1, "divergence")
    assert report["signature"]["ops"] == ["gelu"] and report["final"]["elements"] == 7
    assert report["verified"]["reproduced"] == report["verified"]["runs"] == 3


def test_the_reshape_of_an_older_release_is_one_line_and_its_kin_are_listed(align, environment_of):
    environment_of("paddle==3.0.0")
    status, report = align("--model", "mar_tiny", "--port", "zoo", candidate="paddle==3.0.0")
    assert (status, report["verdict"]) == (1, "exception")
    call = report["call"]
    assert call["call"] == "x0.reshape(1, 1, 1)" and call["error"].startswith("TypeError: reshape()")
    assert (call["reproduced"], call["runs"], call["checked"]) == (3, 3, True) and call["lines"] <= 25
    assert len(call["alike"]) >= 5 and all(".reshape(" in line for line in call["alike"])


def test_layers_that_are_made_late_are_loaded_and_patches_are_listed(align):
    status, report = align("--model", f"{PAIRS}:late", "--port", f"{PORTS}:late")
    assert (status, report["verdict"]) == (0, "clean")
    assert "a" in report["pairs"] and any("replaces paddle.Tensor.sum at" in note for note in report["notes"])


def test_generators_views_and_nested_results_pass(align):
    status, report = align("--model", f"{PAIRS}:parts", "--port", f"{PORTS}:parts")
    assert (status, report["verdict"]) == (0, "clean")
    assert next(row for row in report["rows"] if row["unit"] == "b")["calls"] == 3


@pytest.mark.parametrize("candidate", ["paddle", "oneflow"])
def test_gradients_and_two_training_steps_agree(align, candidate):
    status, report = align("--model", "vit_tiny", "--port", "zoo", "--train-steps", "2", candidate=candidate)
    assert (status, report["verdict"]) == (0, "clean")
    assert {(item["step"], item["what"]) for item in report["training"]} == {
        (0, "gradient"), (0, "adamw"), (1, "gradient"), (1, "adamw")}
    assert all(row["gradient"]["verdict"] == "same" for row in report["rows"] if row["calls"] and "::" not in row["unit"])


@pytest.mark.parametrize(("options", "words"), [
    (["--map", "nothing.*=else.*"], "covers no module"),
    (["--map", "nonsense"], "expected NAME=NAME"),
    (["--convert", f"{PORTS}:missing"], "has no callable 'missing'"),
    (["--inputs", "x=float32[1,2"], "cannot read the input"),
])
def test_bad_input_says_what_was_expected(align, options, words):
    status, message = align("--model", f"{PAIRS}:parts", "--port", f"{PORTS}:parts", *options)
    assert status == 2 and words in message


def test_what_a_layer_raises_is_reduced_to_the_function_that_it_calls(align, tmp_path):
    (tmp_path / "ref.py").write_text(
        "import torch\n\n\ndef build():\n    return torch.nn.Sequential(torch.nn.LayerNorm(6)), torch.randn(2, 6)\n")
    (tmp_path / "port.py").write_text(
        "import paddle\n\n\ndef build():\n    return paddle.nn.Sequential(paddle.nn.LayerNorm(6, epsilon=0.01))\n")
    status, report = align("--model", f"{tmp_path / 'ref.py'}:build", "--port", f"{tmp_path / 'port.py'}:build")
    assert status == 1 and [row["unit"] for row in report["rows"] if row["verdict"] == "raises"] == ["0"]
    assert report["call"]["call"] == "paddle.nn.functional.layer_norm(x0, normalized_shape=[1], epsilon=0.01)"
    assert report["call"]["reproduced"] == 3
