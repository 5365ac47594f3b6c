"""The sweep command on a real framework: it finds a known bug, survives a crash, resumes, and shrinks what it found."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from minrepro.cli import cli
from minrepro.sweep.lane import Lane
from minrepro.sweep.plan import OWN, Item, case_of


def swept(*arguments: str) -> tuple[int, dict]:
    """Exit status and report of ``minrepro sweep --candidate paddle --json``."""
    result = CliRunner().invoke(cli, ["sweep", "--candidate", "paddle", "--json", *arguments])
    return result.exit_code, json.loads(result.stdout)


def test_a_known_bug_is_found_shrunk_and_not_asked_twice(python_of, tmp_path: Path) -> None:
    python_of("torch"), python_of("paddle")
    asked = ("--op", "slice_scatter", "--op", "relu", "--dtype", "float32", "--out", str(tmp_path))
    status, report = swept(*asked)
    assert status == 1 and report["asked"] == report["cases"] > 10
    assert set(report["operators"]["relu"]) <= {"same", "refused"}
    (found,) = report["divergences"]
    assert (found["op"], found["symptom"], found["side"]) == ("slice_scatter", "exception", "candidate")
    status, again = swept(*asked, "--shrink")
    assert again["asked"] == 0 and again["divergences"] == report["divergences"]
    (shrunk,) = again["shrunk"]
    assert shrunk["verdict"] == "divergence" and "slice_scatter" in shrunk["title"]
    assert (Path(shrunk["folder"]) / "repro.py").exists()


def test_a_crash_is_confirmed_alone_and_spoils_no_other_case(python_of, tmp_path: Path) -> None:
    python_of("torch"), python_of("paddle")
    lane = Lane("torch", "paddle", tmp_path, 20.0)
    try:
        lane.start()
        seen = {}
        for number in (2, 0):
            item = Item("gru.input", number, "float32", OWN, True)
            seen[number] = lane.evaluate(item, case_of(item, "torch", "paddle"))
        lane.finish()
    finally:
        lane.stop()
    assert seen[2].signature is not None and seen[2].signature.symptom == "crash"
    assert seen[0].comparison.verdict == "same"


def test_gradients_are_swept_shrunk_and_not_asked_twice(python_of, tmp_path: Path) -> None:
    python_of("torch"), python_of("paddle")
    asked = ("--mode", "backward", "--dtype", "float32", "--layout", "own", "--out", str(tmp_path))
    asked += tuple(word for op in ("diag_embed", "softmax", "argmax", "kl_div", "silu_") for word in ("--op", op))
    status, report = swept(*asked)
    assert status == 1 and report["asked"] == report["cases"] and not report["operators"]
    seen = report["backward"]["operators"]
    # No result to differentiate is no failure, nor a target without a gradient.
    assert set(seen["argmax"]) == {"none"} and [set(seen[op]) for op in ("softmax", "kl_div", "silu_")] == [{"same"}] * 3
    (found,) = report["divergences"]
    assert (found["op"], found["mode"], found["symptom"], found["side"]) == (
        "diag_embed", "backward", "structure", "candidate"
    )
    status, again = swept(*asked, "--shrink")
    assert again["asked"] == 0 and again["divergences"] == report["divergences"]
    (shrunk,) = again["shrunk"]
    assert shrunk["verdict"] == "divergence" and "diag_embed" in shrunk["title"]
    script = (Path(shrunk["folder"]) / "repro.py").read_text(encoding="utf-8")
    assert ".backward(" in script and "minrepro" not in script
