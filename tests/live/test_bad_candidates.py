"""Candidates that crash, hang, end the process, return garbage or print: a verdict each, and nothing of it on our output.

Each fault file ``tests/faults/bad_*.py`` spoils one step of a small model; the command line has to name what it does, and
its standard output has to hold the report and nothing else.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults import FOLDER, ROOT

MODEL = f"{FOLDER / 'models' / 'gelu_between.py'}:build"
NAMED = {
    "segfault": ("crash", "SIGSEGV"), "abort": ("crash", "SIGABRT"), "exit": ("crash", "exit 0"),
    "sys_exit": ("crash", "exit 3"), "hang": ("hang", ""), "flood": ("hang", ""), "garbage": ("value", ""),
    "unset": ("value", ""), "nothing": ("exception", "TypeError"),
}
"""Fault file -> symptom, and class of the exception or end of the process."""
CAUSES = {"garbage": "non-determinism"}
UNSHOWN = ("nothing",)
"""A result that is none has nothing that a script can compare."""
LONGEST_LOG = 1 << 27


@pytest.fixture
def shrink(python_of, tmp_path: Path):
    """A run of the command line: exit status, report and folder."""
    torch = f"torch@{python_of('torch')}"

    def run(fault: str, *more: str) -> tuple[int, dict, Path]:
        done = subprocess.run(
            [sys.executable, "-m", "minrepro", "shrink", "--model", MODEL, "--mode", "forward", "--deadline", "1",
             "--reference", torch, "--candidate", f"{torch}+replay:{FOLDER / fault}.py", "--out", "run", "--json", *more],
            cwd=tmp_path, capture_output=True, text=True, timeout=240, env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        return done.returncode, json.loads(done.stdout), tmp_path / "run"

    return run


def test_every_bad_candidate_is_here() -> None:
    assert {path.stem for path in FOLDER.glob("bad_*.py")} == {f"bad_{name}" for name in [*NAMED, "chatter"]}


@pytest.mark.parametrize("name", [name for name in NAMED if name != "unset"])
def test_the_verdict_is_what_the_candidate_does(name: str, shrink) -> None:
    status, report, folder = shrink(f"bad_{name}", "--budget", "3")
    assert (report["signature"]["symptom"], report["signature"]["kind"]) == NAMED[name]
    assert report["signature"]["side"] == "candidate" and report["site"]["op"] == "gelu"
    assert report["compared"]["forward"]["verdicts"] == {"diverges": 1, "same": 2}
    assert (status, report["verdict"]) == ((3, "unverified") if name in UNSHOWN else (1, "divergence"))
    assert report["verified"]["reproduced"] == (0 if name in UNSHOWN else 3)
    assert report["diagnosis"]["cause"] == CAUSES.get(name, "unexplained")
    assert max(path.stat().st_size for path in folder.iterdir()) < LONGEST_LOG


def test_memory_that_was_never_written_is_found_whatever_stands_in_it(shrink) -> None:
    # Numbers, not-numbers or zeros, in every run or in some: that is chance, and only the verdict is not.
    status, report, _ = shrink("bad_unset", "--budget", "3")
    assert (status, report["verdict"]) == (1, "divergence") and report["verified"]["reproduced"] >= 1
    assert report["signature"]["symptom"] in ("value", "nonfinite") and report["signature"]["side"] == "candidate"
    assert report["site"]["op"] == "gelu"
    assert report["diagnosis"]["cause"] in ("uninitialised memory", "non-determinism", "unexplained")


def test_what_a_right_candidate_prints_is_in_the_log_and_nowhere_else(shrink) -> None:
    status, report, folder = shrink("bad_chatter")
    assert (status, report["verdict"]) == (0, "clean")
    log = "".join(path.read_text() for path in folder.glob("worker-*.log"))
    for origin in ("the import", "Python", "the descriptor", "C"):
        assert f"chatter from {origin}" in log or f"chatter of {origin}" in log or f"chatter on {origin}" in log
