"""The fresh processes of one finding, as many of them as possible started before they are due.

Importing a framework is nearly all that a fresh process costs, and the search for the script leaves a core idle. What may
start before the script is known, and why it is the same process nevertheless, says `running.Process`. A script that is
likely to stay as it is may be begun; its runs count only for exactly that text.
"""

from __future__ import annotations

import contextlib
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor

from minrepro.verify.running import Process, Run

PARALLEL = 2
"""Fresh processes at a time: each imports a framework, on a core of its own."""
DEADLINE = 120.0
"""Seconds that a script may take."""


class Ahead:
    """Runs of scripts in fresh processes.

    Args:
        interpreter: the framework's Python.
        threads: size of the thread pools.
        under: backend file and replay file of the historical bug that a script runs on top of.
        deadline: seconds per run.
    """

    def __init__(
        self, interpreter: str, threads: int = 1, under: tuple[str, str] | None = None, deadline: float = DEADLINE
    ):
        self.kind, self.deadline = (interpreter, threads, under), deadline
        self._pool, self._starter = ThreadPoolExecutor(PARALLEL), ThreadPoolExecutor(1)
        self._waiting: deque[Future[Process]] = deque()
        self._open: set[Process] = set()
        self._over = False
        self._begun: tuple[str, list[Future[Run]], Future[Run] | None] | None = None

    def prepare(self, count: int) -> None:
        """Start processes in the background until there are so many, one after the other so that they take one core."""
        if self.kind[2] is None or self._begun is not None:
            return
        while len(self._waiting) < count:
            self._waiting.append(self._starter.submit(self._start))

    def begin(self, text: str, runs: int) -> tuple[list[Future[Run]], Future[Run] | None]:
        """The runs of a script, and under a replay one without it; they go on from where they are if they were begun.

        Args:
            text: the script.
            runs: how many.
        """
        if self._begun is None or self._begun[0] != text or len(self._begun[1]) < runs:
            bare = self._pool.submit(self._bare, text) if self.kind[2] is not None else None
            self._begun = text, self.more(text, runs), bare
        return self._begun[1], self._begun[2]

    def more(self, text: str, runs: int) -> list[Future[Run]]:
        """So many further runs of a script."""
        return [self._pool.submit(self._once, text) for _ in range(runs)]

    def stop(self) -> None:
        """End all processes."""
        self._over = True
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._starter.shutdown(wait=False, cancel_futures=True)
        for process in tuple(self._open):
            process.kill()
        self._pool.shutdown()
        self._starter.shutdown()
        for process in tuple(self._open):
            self._close(process)

    def __enter__(self) -> Ahead:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def _start(self) -> Process:
        process = self._opened(Process(*self.kind))
        process.wait()
        return process

    def _opened(self, process: Process) -> Process:
        """A process that `stop` ends too, now or later."""
        self._open.add(process)
        if self._over:
            process.kill()
        return process

    def _once(self, text: str) -> Run:
        """Run a script in a process that waits for one, or in a new one."""
        return self._run(self._taken() or Process(*self.kind, text), text)

    def _taken(self) -> Process | None:
        """A process that waits; something may have ended it meanwhile, and another thread may take the last one."""
        with contextlib.suppress(IndexError):
            while True:
                process = self._waiting.popleft().result()
                if process.running:
                    return process
                self._close(process)
        return None

    def _bare(self, text: str) -> Run:
        interpreter, threads, _ = self.kind
        return self._run(Process(interpreter, threads, None, text), text)

    def _run(self, process: Process, text: str) -> Run:
        try:
            return self._opened(process).run(text, self.deadline)
        finally:
            self._close(process)

    def _close(self, process: Process) -> None:
        process.stop()
        self._open.discard(process)
