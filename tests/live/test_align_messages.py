"""What `minrepro align` says beside the table: of errors that are due, of what hangs, of wrong input, in two languages."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy
import pytest

from minrepro import cli
from tests.live.test_align_cases import align, rows

__all__ = ["align"]
HERE = Path(__file__).parent
MODELS = HERE / "models/said.py"
PADDLE = HERE / "models/said_paddle.py"


def sides(model: str, framework: str, port: str = "") -> list[str]:
    return ["--model", f"{MODELS}:{model}", "--port", f"{HERE}/models/said_{framework}.py:{port or model}"]


def test_an_error_that_the_reference_raises_too_is_not_scripted(align, tmp_path):
    status, report = align(*sides("patches", "oneflow", "patches_unstrided"), candidate="oneflow")
    assert status == 1 and rows(report, "port") == ["proj"]
    call = report["call"]
    assert call["call"] == "x0.reshape(2, 3, 2, 3, 2, 6)" and "PyTorch refuses this call, too (RuntimeError:" in call["why"]
    assert not call["path"] and not call["alike"] and not (tmp_path / "run/repro.py").exists()
    assert call["error"].startswith("RuntimeError: Error: shape") and "\x1b" not in str(report)


@pytest.mark.parametrize(("options", "words"), [
    (["--convert", "nowhere.py:state"], "the converter 'nowhere.py:state' names a file that is not there"),
    (["--convert", "nothing"], "unknown converter 'nothing'. Expected file.py:callable or package.module:callable."),
    (["--convert", f"{PADDLE}:nothing"], "the converter said_paddle.py:nothing: "),
    (["--convert", "no_such_module:state"], "no_such_module:state: importing the converter raised ModuleNotFoundError"),
    (["--port", "nowhere.py:build"], "the port 'nowhere.py:build' names a file that is not there"),
    (["--port", f"{PADDLE}:nothing"], "said_paddle.py:nothing: "),
    (["--port", f"{PADDLE}:unbuilt"], "building the port raised KeyError"),
    (["--model", "nowhere.py:build"], "the model 'nowhere.py:build' names a file that is not there"),
])
def test_what_is_wrong_is_called_what_it_is(align, options, words):
    status, message = align(*sides("patches", "paddle"), *options)
    assert status == 2 and words in message, message
    assert ("the model" in message) == ("--model" in options)


def test_a_wrong_array_is_answered_with_the_names_that_there_are(align, tmp_path):
    numpy.savez(tmp_path / "in.npz", image=numpy.zeros((2, 3, 8, 8), "float32"), mask=numpy.zeros(2, "float32"))
    status, message = align(*sides("patches", "paddle"), "--inputs", f"x=@{tmp_path / 'in.npz'}:imag")
    assert status == 2 and "it has: image, mask" in message
    status, message = align(*sides("patches", "paddle"), "--inputs", f"{tmp_path / 'in.npz'}")
    assert status == 2 and "in.npz has: image, mask." in message
    (tmp_path / "bad.npz").write_text("no archive")
    status, message = align(*sides("patches", "paddle"), "--inputs", f"x=@{tmp_path / 'bad.npz'}:image")
    assert status == 2 and "expected what numpy.savez writes" in message


def test_the_help_says_what_a_star_stands_for(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["minrepro", "align", "--help"])
    cli.main()
    assert "exactly one part of a path" in " ".join(capsys.readouterr().out.split())


OURS = r"\b(the|of|which|port|reference|script|call|folder|worst|agree|differ|step|reduce|converter|root|notes?)\b"
"""Words of ours that no line in Chinese has."""


@pytest.mark.parametrize(("model", "port", "framework", "options"), [
    ("patches", "patches", "paddle", ["--train-steps", "1"]),
    ("patches", "patches_unstrided", "oneflow", []),
    ("patches", "patches_summed", "paddle", ["--backward"]),
    ("patches", "patches_without_bias", "paddle", ["--convert", f"{PADDLE}:half_of_it"]),
    ("patches", "patches_leaving", "paddle", []),
])
def test_everything_around_the_table_is_in_the_language(
    capsys, monkeypatch, tmp_path, environment_of, model, port, framework, options
):
    environment_of(framework)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [
        "minrepro", "align", *sides(model, framework, port), "--candidate", framework, *options, "--out", "o", "--lang", "zh"])
    with pytest.raises(SystemExit):
        cli.main()
    printed = capsys.readouterr().out
    below = printed[printed.index("\nfc ") + 1:].partition("\n")[2]
    assert below.count("\n") > 3
    for line in [*below.splitlines(), *(tmp_path / "o/align.md").read_text().splitlines()]:
        ours = re.sub(r"\(.*?\)|\S*/\S*|--\w+|\S*\.\w+|.*Error: .*|minrepro .*", "", line)
        assert not re.search(OURS, ours), line
