"""The sweep command on a real framework: it finds a known bug, survives a crash, resumes, and shrinks what it found."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
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


def test_a_convention_is_a_verdict_with_its_source_beside_a_divergence(python_of, tmp_path: Path) -> None:
    python_of("torch"), python_of("paddle")
    asked = ("--op", "one_hot", "--op", "hardsigmoid", "--op", "slice_scatter", "--layout", "own", "--out", str(tmp_path))
    status, report = swept(*asked)
    assert status == 1 and {found["op"] for found in report["divergences"]} == {"slice_scatter"}
    assert report["operators"]["one_hot"]["convention"] >= 1 and report["verdicts"]["convention"] == sum(
        one["cases"] for one in report["known"]
    )
    sources = {one["cause"]: one["source"] for one in report["known"]}
    assert sources["convention: one_hot dtype"].startswith("paddle.nn.functional.one_hot: ")
    assert sources["convention: slope of hardsigmoid"].startswith("paddle.nn.functional.hardsigmoid: ")
    # What is documented alone is no failure, and is not asked again.
    status, again = swept("--op", "one_hot", "--layout", "own", "--out", str(tmp_path))
    assert status == 0 and again["asked"] == 0 and not again["divergences"] and again["verdicts"]["convention"]


def test_a_planted_fault_of_a_documented_operator_stays_a_divergence(python_of, tmp_path: Path) -> None:
    """Paddle's one_hot is a convention by its dtype; a lane whose candidate also puts the one elsewhere is not excused."""
    python_of("torch"), python_of("paddle")
    lane = Lane("torch", "paddle", tmp_path, 20.0)
    item = Item("one_hot", 0, "int64", OWN, True)
    case = case_of(item, "torch", "paddle")
    spell = lane.alone.spell

    def wrong(one, side):
        text = spell(one, side)
        if side is not lane.alone.candidate:
            return text
        lines = tuple(step.lines for step in text.steps)[-1]
        broken = (*lines[:-1], lines[-1] + " * 2")
        return msgspec.structs.replace(text, steps=(*text.steps[:-1], msgspec.structs.replace(text.steps[-1], lines=broken)))

    try:
        lane.start()
        assert (told := lane.evaluate(item, case).legal) is not None and told.cause == "convention: one_hot dtype"
        lane.alone.spell = wrong
        found = lane.isolated(item, case)
    finally:
        lane.stop()
    assert found.comparison.verdict == "diverges" and found.legal is None


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
    # It reads past the end of a shape: what that holds decides whether it dies or refuses a dimension of millions.
    assert seen[2].signature is not None and seen[2].signature.symptom in ("crash", "exception")
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
    assert shrunk["verdict"] == "divergence" and "diag_embed" in shrunk["title"] and shrunk["cause"] == "gradient cut"
    script = (Path(shrunk["folder"]) / "repro.py").read_text(encoding="utf-8")
    assert ".backward(" in script and "minrepro" not in script
