"""Right ports that are told something else inside are right; the same ports with a mistake in them are not.

The pairs are in ``models/interfaces*.py``. What a part is told (padded or not, time first, a mask turned, scaled) is its
port's own business as long as what comes of it agrees, and as long as somebody looks at it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from minrepro import cli

MODELS = Path(__file__).parent / "models"
REFERENCE = MODELS / "interfaces.py"
GUILTY = ("port", "setting", "weights", "framework", "unexplained", "draw")


@pytest.fixture
def align(capsys, monkeypatch, tmp_path, environment_of):
    """Align a model with one of its ports: (exit status, report)."""

    def ask(model: str, port: str = "", convert: str = "", *more: str, candidate: str = "paddle"):
        for name in ("torch", candidate):
            environment_of(name)
        ports = MODELS / f"interfaces_{candidate}.py"
        arguments = ["--model", f"{REFERENCE}:{model}", "--port", f"{ports}:{port or model}", *more]
        if convert:
            arguments += ["--convert", f"{ports}:{convert}"]
        out = tmp_path / f"run{len(list(tmp_path.iterdir()))}"
        monkeypatch.setattr(
            sys, "argv", ["minrepro", "align", *arguments, "--candidate", candidate, "--out", str(out), "--json"])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        return stop.value.code, json.loads(capsys.readouterr().out)

    return ask


def guilty(report: dict) -> dict[str, str]:
    """Unit -> note of what is blamed."""
    rows = (row for row in report["rows"] if row["verdict"] in GUILTY or row["gradient"]["verdict"] == "port")
    return {row["unit"]: row["note"] for row in rows}


def interfaces(report: dict) -> list[str]:
    return [row["unit"] for row in report["rows"] if row["verdict"] == "interface"]


RIGHT = [
    ("tones", "tones_convert", ["steps.0.mix", "steps.1.mix"], "paddle"),
    ("tones", "tones_convert", ["steps.0.mix", "steps.1.mix"], "oneflow"),
    ("reader", "reader_convert", ["memory"], "paddle"),
    ("teller", "teller_convert", ["layers.0", "layers.0.look", "layers.1", "layers.1.look"], "paddle"),
    ("scaled", "", ["branch"], "paddle"),
    ("stairs", "", ["steps.0", "steps.1"], "paddle"),
    ("flat", "flat_convert", ["a"], "paddle"),
    ("last", "last_convert", ["one", "two"], "paddle"),
    ("frames", "frames_convert", ["see.0", "see.1", "see.3"], "paddle"),
    ("encoder", "encoder_convert", [
        "encoder", *(f"encoder.layers.{i}{part}" for i in (0, 1) for part in ("", ".self_attn"))], "paddle"),
]


@pytest.mark.parametrize(("model", "convert", "units", "candidate"), RIGHT)
def test_a_right_port_with_another_interface_is_clean(align, model, convert, units, candidate):
    port = "closed" if model == "scaled" else model
    status, report = align(model, port, convert, candidate=candidate)
    assert (status, report["verdict"], guilty(report)) == (0, "clean", {})
    assert interfaces(report) == units


def test_its_gradients_and_steps_are_compared_parts_of_fused_weights_too(align):
    seen = {
        "teller": {"layers.0.look.both.weight.T[:, 0:8]", "layers.1.look.both.bias[8:16]", "head.weight", "loss"},
        "frames": {"q.weight.T + k.weight.T + v.weight.T", "q.bias + k.bias + v.bias", "see.3.weight"},
        "encoder": {"encoder.layers.1.self_attn.in_proj_weight.T[:, 16:24]", "encoder.layers.0.linear1.weight"},
    }
    for model, keys in seen.items():
        status, report = align(model, "", f"{model}_convert", "--train-steps", "1")
        assert (status, report["verdict"], guilty(report)) == (0, "clean", {})
        assert keys <= {item["key"] for item in report["training"]}
        assert not [note for note in report["notes"] if note.startswith("not compared")]


def test_a_mistake_behind_another_interface_is_still_found(align):
    status, report = align("tones", "tones_late", "tones_convert")
    assert (status, report["verdict"]) == (1, "port")
    assert set(guilty(report)) == {"steps.1.mix"} and interfaces(report) == ["steps.0.mix"]
    status, report = align("teller", "teller_wrong_axis", "teller_convert")
    assert (status, report["verdict"]) == (1, "port")
    assert set(guilty(report)) == {"layers.0.look", "layers.1.look"}
    status, report = align("flat", "flat_wrong", "flat_convert")
    assert (status, report["verdict"], interfaces(report)) == (1, "port", ["a"])
    assert guilty(report)[""].startswith("its own code gives c a wrong input")


def test_a_converter_that_mixes_up_parts_of_a_fused_weight_is_named(align):
    status, report = align("teller", "teller", "teller_convert_swapped")
    assert (status, report["verdict"]) == (1, "converter")
    told = guilty(report)["layers.0.look"]
    assert "blocks.0.attention.k.weight layers.0.look.both.weight.T[:, 8:16]" in told
    status, report = align("teller", "teller", "teller_convert_unturned")
    assert (status, report["verdict"]) == (1, "converter")
    assert set(guilty(report)) == {"layers.0.look.tell", "layers.1.look.tell"}


def test_another_rate_is_a_mistake_in_training_and_in_evaluation(align):
    for mode in ((), ("--train",)):
        status, report = align("teller", "teller_rate", "teller_convert", *mode)
        assert (status, report["verdict"]) == (1, "port")
        assert any("0.1" in note and "0.3" in note for note in guilty(report).values())


def test_what_nobody_looks_at_excuses_nothing(align):
    status, report = align("closed", "closed_forgotten")
    assert (status, report["verdict"]) == (1, "port")
    assert "branch" in " ".join(guilty(report).values())
    assert any("this input hides it" in note for note in report["notes"])


def test_what_the_end_cannot_see_is_found_all_the_same(align):
    """A mean over the positions gives the same whatever their order is; the value of the reference never comes up."""
    status, report = align("stairs", "stairs_turned")
    assert (status, report["verdict"]) == (1, "port")
    assert set(guilty(report)) == {"steps.1"} and interfaces(report) == ["steps.0"]
