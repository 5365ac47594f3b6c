"""Of two faults the one that was found is kept, and the other is told, with a command that reduces it."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from minrepro.ir import codec
from minrepro.ir.case import Case

from ..faults import FOLDER, ROOT
from .causes import open_pair
from .doubles import examine, table


@pytest.fixture(scope="module")
def pair(environment_of, tmp_path_factory):
    environment_of("torch")
    opened = open_pair(tmp_path_factory.mktemp("doubles"))
    yield opened
    opened.stop()


@pytest.mark.parametrize("double", table(), ids=lambda double: double.file)
def test_the_end_has_the_signature_of_the_start_and_the_second_bug_is_told(double, pair, tmp_path: Path) -> None:
    result = examine(double, pair, tmp_path)
    assert result.kept, f"{result.start} became {result.end}"
    assert result.told, result.aside


def minrepro(*arguments: str, cwd: Path) -> tuple[int, dict]:
    """A whole run from the command line."""
    done = subprocess.run(
        [sys.executable, "-m", "minrepro", *arguments, "--json"], cwd=cwd, capture_output=True, text=True, timeout=240,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.returncode in (0, 1), done.stderr
    return done.returncode, json.loads(done.stdout)


def test_both_bugs_end_as_scripts_of_their_own(python_of, tmp_path: Path) -> None:
    torch = f"torch@{python_of('torch')}"
    double = next(double for double in table() if double.file == "double_value_exception")
    found = double.case
    case = Case(found.graph, found.feeds, torch, f"{torch}+replay:{FOLDER / double.file}.py")
    (tmp_path / "start.json").write_bytes(codec.encode(case))
    status, first = minrepro("shrink", "--case", "start.json", "--out", "first", cwd=tmp_path)
    assert (status, first["verdict"], first["signature"]["symptom"]) == (1, "divergence", "value")
    (other,) = first["slipped"]
    assert other["signature"].startswith("exception RuntimeError")
    _, *command = shlex.split(other["command"])
    status, second = minrepro(*command, "--out", "second", cwd=tmp_path)
    assert (status, second["verdict"], second["signature"]["kind"]) == (1, "divergence", "RuntimeError")
    assert second["verified"]["reproduced"] == 3
    assert "another bug" in (tmp_path / "second" / "repro.py").read_text() + (tmp_path / "second" / "issue.md").read_text()
    _, resumed = minrepro("shrink", "--resume", "second", cwd=tmp_path)
    assert resumed["final"] == second["final"]
    status, right = minrepro("shrink", "--case", "start.json", "--candidate", torch, cwd=tmp_path)
    assert (status, right["verdict"]) == (0, "clean")
