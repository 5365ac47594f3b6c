"""Runs a script alone: a fresh process in an empty folder, with nothing of ours or of the user's in its environment."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

import msgspec

from minrepro.worker.client import THREAD_VARIABLES

KEPT = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT", "LANG", "LC_ALL", "TZ")
"""Variables that a script may see; all others could hide or cause what it shows."""
RUNNER = Path(__file__).with_name("under_replay.py")
KEPT_BYTES = 1 << 18
"""How much of the end of a script's output is kept; what it prints itself comes last and is short."""
TIMED_OUT = 124
"""Status of a run that was ended at its deadline, as `timeout` gives it."""


class Run(msgspec.Struct, frozen=True):
    """How a script ended.

    Attributes:
        status: exit status; negative for a signal, `TIMED_OUT` at the deadline.
        output: what it printed on standard output.
        errors: the end of its standard error.
    """

    status: int
    output: str
    errors: str


def run(text: str, interpreter: str, *, threads: int = 1, under: tuple[str, str] | None = None, deadline: float) -> Run:
    """Run a script once.

    Args:
        text: the script.
        interpreter: the framework's Python.
        threads: size of the thread pools.
        under: backend file and replay file, to run it on top of a historical bug.
        deadline: seconds.
    """
    with tempfile.TemporaryDirectory(prefix="minrepro-run-") as folder:
        (Path(folder) / "repro.py").write_text(text, encoding="utf-8")
        command = [interpreter, "repro.py"] if under is None else [interpreter, str(RUNNER), *under, "repro.py"]
        process = subprocess.Popen(
            command, cwd=folder, env=_environment(folder, threads), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )
        with ThreadPoolExecutor(2) as readers:
            ends = [readers.submit(_end_of, stream) for stream in (process.stdout, process.stderr)]
            try:
                status = process.wait(deadline)
            except subprocess.TimeoutExpired:
                status = TIMED_OUT
            finally:
                _end(process.pid)
            process.wait()
            output, errors = (end.result() for end in ends)
        return Run(status, output.decode(errors="replace"), errors.decode(errors="replace")[-2000:])


def _end_of(stream: IO[bytes]) -> bytes:
    """Read a stream to its end and keep the last part: a call that never returns may print all the time."""
    kept = b""
    with stream:
        while part := stream.read1(1 << 16):
            kept = (kept + part)[-KEPT_BYTES:]
    return kept


def _environment(folder: str, threads: int) -> dict[str, str]:
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    pools = {name: str(threads) for name in THREAD_VARIABLES}
    return kept | pools | {"HOME": folder, "TMPDIR": folder, "PYTHONNOUSERSITE": "1", "PYTHONIOENCODING": "utf-8"}


def _end(group: int) -> None:
    """End whatever the script left behind."""
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
