"""Runs a script alone: a fresh process in an empty folder, with nothing of ours or of the user's in its environment."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
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


class Process:
    """A fresh process in an empty folder of its own, which runs one script.

    Under a replay it may be started before its script is known. The replay imports the framework before the script does
    in any case, so it is the process that it would be later, and only waits in between. A script that runs without a
    replay is the first thing that its interpreter sees, so that one is not started earlier.

    Args:
        interpreter: the framework's Python.
        threads: size of the thread pools.
        under: backend file and replay file, to run the script on top of a historical bug.
        text: the script, if it is known.
    """

    def __init__(self, interpreter: str, threads: int, under: tuple[str, str] | None, text: str | None = None):
        self._folder = tempfile.TemporaryDirectory(prefix="minrepro-run-")
        folder = self._folder.name
        if text is not None:
            self._write(text)
        command = [interpreter, "repro.py"] if under is None else [interpreter, str(RUNNER), *under, "repro.py"]
        self._socket, there = socket.socketpair()
        with there:
            self._process = subprocess.Popen(
                command, cwd=folder, env=_environment(folder, threads), stdin=there if under else subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
            )
        self._readers = ThreadPoolExecutor(2)
        self._ends = [self._readers.submit(_end_of, pipe) for pipe in (self._process.stdout, self._process.stderr)]

    def wait(self) -> None:
        """Wait until it waits for its script, or is over."""
        with contextlib.suppress(OSError):
            self._socket.recv(1)

    @property
    def running(self) -> bool:
        """False once it is over: something may have ended it while it waited."""
        return self._process.poll() is None

    def run(self, text: str, deadline: float) -> Run:
        """Run the script, for so many seconds at most, and end whatever is left of the process."""
        self._write(text)
        with contextlib.suppress(OSError):
            self._socket.sendall(b".")
        try:
            status = self._process.wait(deadline)
        except subprocess.TimeoutExpired:
            status = TIMED_OUT
        finally:
            self.kill()
        self._process.wait()
        output, errors = (end.result() for end in self._ends)
        return Run(status, output.decode(errors="replace"), errors.decode(errors="replace")[-2000:])

    def kill(self) -> None:
        """End it at once, with whatever it left behind."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)

    def stop(self) -> None:
        """End it and remove its folder."""
        self.kill()
        self._process.wait()
        self._socket.close()
        self._readers.shutdown()
        self._folder.cleanup()

    def _write(self, text: str) -> None:
        (Path(self._folder.name) / "repro.py").write_text(text, encoding="utf-8")


def run(text: str, interpreter: str, *, threads: int = 1, under: tuple[str, str] | None = None, deadline: float) -> Run:
    """Run a script once in a process that is started for it.

    Args:
        text: the script.
        interpreter: the framework's Python.
        threads: size of the thread pools.
        under: backend file and replay file, to run it on top of a historical bug.
        deadline: seconds.
    """
    process = Process(interpreter, threads, under, text)
    try:
        return process.run(text, deadline)
    finally:
        process.stop()


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
