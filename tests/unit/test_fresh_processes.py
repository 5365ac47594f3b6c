"""A script's fresh processes: what may start early is what would have started late."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from minrepro.verify.ahead import Ahead
from minrepro.verify.running import TIMED_OUT, Process, run

SCRIPT = "import os, sys\nprint(os.getpid(), os.getppid(), sys.argv, repr(sys.stdin.read()), os.listdir('.'), {})\n"


@pytest.fixture
def under(tmp_path: Path) -> tuple[str, str]:
    """A backend without a framework, and a replay that changes something which a script can see."""
    (tmp_path / "backend.py").write_text("import builtins\n")
    (tmp_path / "replay.py").write_text("def install(backend):\n    backend.builtins.replayed = 'replayed'\n")
    return str(tmp_path / "backend.py"), str(tmp_path / "replay.py")


def test_a_process_that_waited_runs_what_a_new_one_runs(under) -> None:
    text = SCRIPT.format("replayed")
    early = Process(sys.executable, 1, under)
    early.wait()
    assert early.running
    found = early.run(text, 20.0)
    early.stop()
    late = run(text, sys.executable, under=under, deadline=20.0)
    assert found.status == late.status == 0, found.errors
    assert found.output.split(" ", 1)[1] == late.output.split(" ", 1)[1]
    assert f"{os.getpid()} ['repro.py'] '' ['repro.py'] replayed" in found.output


def test_processes_that_wait_are_taken_first_and_only_once(under) -> None:
    with Ahead(sys.executable, 1, under) as ahead:
        ahead.prepare(2)
        waiting = [future.result() for future in ahead._waiting]
        jobs, bare = ahead.begin(SCRIPT.format("replayed"), 3)
        pids = [int(job.result().output.split()[0]) for job in jobs]
        assert {process._process.pid for process in waiting} < set(pids) and len(set(pids)) == 3
        assert bare is not None and bare.result().status == 1, "without the replay the name is unknown"


def test_runs_of_another_text_do_not_count(under) -> None:
    with Ahead(sys.executable, 1, under) as ahead:
        ahead.begin("print('first')", 2)
        jobs, _ = ahead.begin("print('second')", 2)
        assert [job.result().output for job in jobs] == ["second\n"] * 2
        assert ahead.begin("print('second')", 2)[0] is jobs


def test_a_process_that_was_ended_while_it_waited_is_replaced(under) -> None:
    with Ahead(sys.executable, 1, under) as ahead:
        ahead.prepare(1)
        process = ahead._waiting[0].result()
        os.kill(process._process.pid, signal.SIGKILL)
        process._process.wait()
        assert ahead.begin("print(1)", 1)[0][0].result().status == 0


def test_stopping_leaves_nothing_behind(under) -> None:
    start = time.monotonic()
    with Ahead(sys.executable, 1, under) as ahead:
        ahead.prepare(2)
        process = ahead._waiting[0].result()
        ahead.begin("import time\ntime.sleep(60)", 2)
    assert time.monotonic() - start < 20
    assert not process.running and not Path(process._folder.name).exists()


def test_without_a_replay_nothing_starts_before_the_script_is_known() -> None:
    with Ahead(sys.executable) as ahead:
        ahead.prepare(3)
        assert not ahead._waiting and not ahead._open


def test_a_script_that_takes_too_long_is_ended(under) -> None:
    for on in (None, under):
        assert run("import time\ntime.sleep(60)", sys.executable, under=on, deadline=1.0).status == TIMED_OUT
