"""The command line on real wheels: the main job, exit statuses, and a clear message for each kind of bad input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*arguments: str, cwd: Path, seconds: float = 240.0) -> subprocess.CompletedProcess[str]:
    """``minrepro`` with some arguments, in a folder of its own."""
    return subprocess.run(
        [sys.executable, "-m", "minrepro", *arguments], cwd=cwd, capture_output=True, text=True, timeout=seconds,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


@pytest.fixture(autouse=True)
def _torch(python_of) -> None:
    python_of("torch")


def test_the_founding_case_ends_in_a_verified_two_by_two(tmp_path: Path) -> None:
    done = run("shrink", "--model", "mixer_tiny", "--json", "--out", "run", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    assert report["verdict"] == "divergence" and report["replay"] == "flat-copy"
    assert len(report["compared"]["load"]["wrong"]) == 7
    assert report["final"]["shapes"] == [[2, 2], [2, 2]]
    assert report["final"]["layouts"] == ["contiguous", "transposed"]
    assert report["diagnosis"]["cause"] == "source strides ignored"
    assert all(probe["confirmed"] for probe in report["diagnosis"]["probes"])
    assert report["queries"]["warm"] <= 40
    assert report["verified"] == {**report["verified"], "runs": 3, "reproduced": 3, "without_replay": 0}
    assert report["repro"]["lines"] <= 20
    assert "minrepro" not in Path(tmp_path / "run" / "repro.py").read_text()
    assert "REPLAY of a historical bug" in (tmp_path / "run" / "issue.md").read_text()
    names = sorted(path.name for path in (tmp_path / "run").glob("[1-8]-*.json"))
    assert names == ["1-capture.json", "2-compare.json", "3-localise.json", "4-diagnose.json", "5-shrink.json",
                     "6-emit.json", "7-verify.json", "8-entry.json"]
    added = run("corpus", "add", "run", "--into", "kept", cwd=tmp_path)
    assert added.returncode == 0, added.stderr
    replayed = run("corpus", "replay", "kept", cwd=tmp_path)
    assert replayed.returncode == 0 and "1 reproduced" in replayed.stdout, replayed.stdout + replayed.stderr


def test_a_model_that_agrees_is_clean(tmp_path: Path, python_of) -> None:
    python_of("paddle")
    done = run("shrink", "--model", "resnet_tiny", "--candidate", "paddle", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["verdict"] == "clean" and report["compared"]["forward"]["worst_ratio"] < 8


@pytest.mark.parametrize("after", [3, 17, 33])
def test_a_killed_run_resumes_with_no_query_repeated(after: int, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    command = [sys.executable, "-m", "minrepro", "shrink", "--model", "mixer_tiny", "--out", str(folder)]
    process = subprocess.Popen(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    journal = folder / "journal.jsonl"
    while process.poll() is None and (not journal.exists() or len(journal.read_text().splitlines()) < after):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    ended = {r["end"] for r in map(json.loads, journal.read_text().splitlines()[:-1]) if "end" in r}
    done = run("shrink", "--resume", str(folder), "--json", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["final"]["shapes"] == [[2, 2], [2, 2]]
    lines = [json.loads(line) for line in journal.read_text().splitlines() if line.endswith("}")]
    begun = Counter(record["begin"] for record in lines if "begin" in record)
    assert all(begun[key] == 1 for key in ended), "a query that had been answered was asked again"


def interrupted(arguments: list[str], sign: str, folder: Path) -> str:
    """What a command says that gets a SIGINT once a file like `sign` is in its folder."""
    process = subprocess.Popen(
        [sys.executable, "-m", "minrepro", *arguments, "--out", str(folder)], cwd=folder.parent,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    while process.poll() is None and not list(folder.glob(sign)):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    return errors.strip().splitlines()[-1]


def test_ctrl_c_keeps_the_best_case_and_says_how_to_go_on(tmp_path: Path) -> None:
    told = interrupted(["shrink", "--model", "mixer_tiny"], "best.json", tmp_path / "run")
    assert told.startswith("minrepro: interrupted; ") and "best.json" in told
    assert told.endswith(f"continue with: minrepro shrink --resume {tmp_path / 'run'}")
    assert (tmp_path / "run/best.json").exists()


def test_ctrl_c_in_an_alignment_and_in_a_sweep_is_one_line(tmp_path: Path) -> None:
    told = interrupted(["align", "--model", "mixer_tiny", "--port", "zoo", "--candidate", "torch"], "worker-*", tmp_path / "a")
    assert told == f"minrepro: interrupted; nothing but logs is kept yet in {tmp_path / 'a'}"
    told = interrupted(["sweep", "--candidate", "torch", "--jobs", "1"], "*", tmp_path / "s")
    assert "cases are done; continue with the same options and --resume" in told


MODELS = """
import torch

class Raises(torch.nn.Module):
    def forward(self, x):
        h = x + 1
        return h.reshape(7, 7)

class Empty(torch.nn.Module):
    def forward(self, x):
        return x

class Poisoned(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 2)
        self.inner.weight.data[0, 1] = float("nan")
    def forward(self, x):
        return self.inner(x)

class Odd(torch.nn.Module):
    def forward(self, x):
        return torch.special.airy_ai(x) + 1

def raises(): return Raises(), torch.ones(2, 3)
def empty(): return Empty(), torch.ones(2, 3)
def poisoned(): return Poisoned(), torch.ones(2, 3)
def odd(): return Odd(), torch.ones(2, 3)
def needs_input(): return torch.nn.Linear(3, 2)
def not_a_module(): return 3
"""


@pytest.mark.parametrize(
    "arguments, status, words",
    [
        (["--model", "mixr", "--candidate", "paddle"], 2, ["mixr", "mixer"]),
        (["--model", "mixer_tiny", "--candidate", "padle"], 2, ["padle", "paddle"]),
        (["--model", "models.py:absent", "--candidate", "paddle"], 2, ["absent"]),
        (["--model", "nowhere.py:build", "--candidate", "paddle"], 2, ["nowhere.py"]),
        (["--model", "models.py:raises", "--candidate", "paddle"], 2, ["models.py:7", "[7, 7]"]),
        (["--model", "models.py:empty", "--candidate", "paddle"], 2, ["does nothing"]),
        (["--model", "models.py:poisoned", "--candidate", "paddle"], 2, ["inner.weight", "NaN"]),
        (["--model", "models.py:odd", "--candidate", "paddle"], 2, ["airy_ai", "models.py:23"]),
        (["--model", "models.py:needs_input", "--candidate", "paddle"], 2, ["--input"]),
        (["--model", "models.py:not_a_module", "--candidate", "paddle"], 2, ["int"]),
        (["--model", "models.py:needs_input", "--candidate", "paddle", "--input", "x=float3[2"], 2, ["float32[2,3,32,32]"]),
        (["--model", "mixer_tiny", "--candidate", "paddle==1.0.0"], 4, ["minrepro env create paddle==1.0.0"]),
        (["--model", "mixer_tiny", "--mode", "sideways"], 2, ["sideways"]),
        (["--model", "mixer_tiny", "--budget", "many"], 2, ["many"]),
        (["--model", "resnet_tiny"], 2, ["--candidate"]),
        ([], 2, ["--model"]),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else str(value),
)
def test_bad_input_is_named(arguments: list[str], status: int, words: list[str], tmp_path: Path, python_of) -> None:
    python_of("paddle")
    (tmp_path / "models.py").write_text(MODELS)
    done = run("shrink", *arguments, cwd=tmp_path)
    said = done.stdout + done.stderr
    assert done.returncode == status, said
    for word in words:
        assert word in said, f"{word!r} is not in:\n{said}"
    assert "Traceback" not in said
