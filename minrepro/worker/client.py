"""The host's side of a worker: start it, send programs, turn whatever happens into an `Outcome`.

Large tensors travel through files in shared memory: one that the host writes and reuses, one that each worker writes
and reuses. A value that one worker produced can be handed to another worker as a `Remote`, without touching the host.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import signal
import socket
import struct
import subprocess
import threading
import time
import uuid
from pathlib import Path
from typing import Any, Iterable, Mapping, Sequence, Union

import msgspec
import numpy as np

from minrepro.backends import Backend
from minrepro.backends.program import Program
from minrepro.errors import WorkerError
from minrepro.ir.dtype import dtype
from minrepro.ir.outcome import Completed, Crashed, Outcome, Raised, TimedOut, signal_name
from minrepro.ir.tensor import Layout, Tensor, TensorSpec, from_strided
from minrepro.worker.log import Log, plain
from minrepro.worker.shared import SLOTS, Windows, shared_folder, sweep

LENGTHS = struct.Struct(">QQ")
INLINE = 1 << 18
MAIN = Path(__file__).with_name("main.py")
IMPORT_SECONDS = 180.0
"""Patience with an import on a cold disk."""
STARTS = 3
"""Times that a worker is started again which was killed while it imported."""
WATCH_SECONDS = 0.2
"""How often a silent worker's log is looked at."""
THREAD_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")


class Remote(msgspec.Struct, frozen=True):
    """A value in a worker's output file, valid until that worker answers its next request."""

    spec: TensorSpec
    base_shape: tuple[int, ...]
    file: str
    offset: int


class Zeros(msgspec.Struct, frozen=True):
    """A dense tensor of zeros that the worker makes by itself: the fresh destination of weight loading."""

    spec: TensorSpec


Value = Union[Tensor, Remote, Zeros]


class Worker:
    """One framework in one interpreter.

    Args:
        backend: the framework.
        interpreter: path of the Python that can import it.
        folder: where the log goes.
        plugins: Python files with an ``install(backend)`` that run after the import (replays, planted faults).
        options: backend options, passed to ``start``.
        limit_bytes: resident memory at which an evaluation is stopped.
    """

    def __init__(
        self,
        backend: Backend,
        interpreter: str,
        folder: Path,
        plugins: Sequence[str] = (),
        options: Mapping[str, str] = {},
        limit_bytes: int = 0,
    ):
        self.backend, self.interpreter = backend, interpreter
        self.plugins, self.options = tuple(plugins), dict(options)
        self.limit_bytes = limit_bytes or int(0.85 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
        token = uuid.uuid4().hex[:12]
        self.log = Log(Path(folder) / f"worker-{backend.name}-{token}.log")
        self.out_path = str(shared_folder() / f"minrepro-{os.getpid()}-{token}-out")
        self.in_path = str(shared_folder() / f"minrepro-{os.getpid()}-{token}-in")
        self.process: subprocess.Popen[bytes] | None = None
        self.ready = False
        self.import_seconds = 0.0
        self.import_bytes = 0
        self.computed_seconds = 0.0
        self.peak_bytes = 0
        self._in_map: mmap.mmap | None = None
        self._windows = Windows()
        self._turn = threading.RLock()

    def start(self) -> None:
        """Start the process without waiting for its imports (`ensure` does that)."""
        if self.process is not None:
            return
        sweep()
        here, there = socket.socketpair()
        options = {
            "backend": self.backend.path,
            "plugins": self.plugins,
            "options": self.options,
            "log": str(self.log.path),
            "out": self.out_path,
            "limit_bytes": self.limit_bytes,
        }
        # The worker must not see the host's packages: neither PYTHONPATH nor a user site.
        environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP")}
        environment.update(dict.fromkeys(THREAD_VARIABLES, "1"), PYTHONNOUSERSITE="1", GLOG_minloglevel="3")
        self.process = subprocess.Popen(
            [self.interpreter, "-W", "ignore", str(MAIN), str(there.fileno()), json.dumps(options)],
            pass_fds=(there.fileno(),),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        there.close()
        self._socket = here
        self.ready = False

    def ensure(self) -> None:
        """Start the worker if need be and wait until its framework is imported.

        Raises:
            WorkerError: if the framework cannot be imported; the message ends with the log.
        """
        self.start()
        if self.ready:
            return
        reply, _ = self._receive(IMPORT_SECONDS)
        for _ in range(STARTS):
            if reply is None and self.join(0.5) == -signal.SIGKILL:
                # Something killed it while it imported: that deserves another try, not a verdict.
                self.stop()
                self.start()
                reply, _ = self._receive(IMPORT_SECONDS)
        if reply is None or reply.get("outcome") != "ready":
            why = f"{reply['kind']}: {reply['message']}" if reply else "the process ended"
            self.stop()
            raise WorkerError(f"{self.backend.title} did not start in {self.interpreter}: {why}\n{self.tail()}")
        self.import_seconds, self.import_bytes = reply["seconds"], reply["peak_bytes"]
        self.ready = True

    def hello(self) -> dict[str, Any]:
        """Interpreter, framework and package versions, and peak memory."""
        return self._ask({"do": "hello"}, 30.0)[0]

    def run(self, program: Program, feeds: Mapping[str, Value], returns: Iterable[str], **knobs: Any) -> Outcome:
        """Run a program in a forked child that ends afterwards.

        Args:
            program: what to run.
            feeds: graph input -> value.
            returns: names of the values wanted.
            knobs: ``deadline`` in seconds, ``threads``, ``seed``.
        """
        return self._evaluate("run", program, feeds, returns, (), knobs)

    def direct(self, program: Program, feeds: Mapping[str, Value], returns: Iterable[str], **knobs: Any) -> Outcome:
        """Run a program in a new process that does not fork: the final word where a forked child may not have it."""
        fresh = Worker(
            self.backend, self.interpreter, self.log.path.parent, self.plugins, self.options, self.limit_bytes
        )
        try:
            deadline = knobs.get("deadline", 60.0)
            outcome = fresh._evaluate("direct", program, feeds, returns, (), {**knobs, "patience": deadline})
            # The reply alone is not enough: a kernel on a thread of its own can still bring the process down.
            status = fresh.join(5.0) if isinstance(outcome, Completed) else 0
            return Crashed(signal_name(status), "", fresh.tail()) if status else outcome
        finally:
            fresh.stop()

    def inline(
        self, program: Program, feeds: Mapping[str, Value], returns: Iterable[str], free: Iterable[str] = (), **knobs: Any
    ) -> Outcome:
        """Run a program in this very process, which lives on: for many runs of what does not survive a fork."""
        deadline = knobs.get("deadline", 60.0)
        return self._evaluate("direct", program, feeds, returns, free, {**knobs, "stay": True, "patience": deadline})

    def join(self, patience: float) -> int:
        """Wait for the process to end by itself; its exit status, or 0 if it does not end."""
        try:
            return self.process.wait(patience) if self.process is not None else 0
        except subprocess.TimeoutExpired:
            return 0

    def step(
        self, program: Program, feeds: Mapping[str, Value], returns: Iterable[str], free: Iterable[str] = (), **knobs: Any
    ) -> Outcome | dict[str, Remote]:
        """Run a program in the open session, whose variables persist.

        Args:
            program: what to run; feeds that the session already holds are left out of `feeds`.
            feeds: values to bind first.
            returns: names of the values wanted.
            free: variables to forget afterwards.
            knobs: ``deadline``, ``threads``, ``seed``; ``remote=True`` leaves the results in the worker's file and
                returns `Remote`s; ``slot``, one of `SLOTS`, is the file where they stay until the next answer there.
        """
        return self._evaluate("step", program, feeds, returns, free, knobs)

    def open(self) -> None:
        """Fork a child that keeps its variables between requests."""
        self._ask({"do": "open"}, 30.0)

    def close(self) -> str | None:
        """End the session; return how it ended if that was not a clean exit."""
        reply, _ = self._ask({"do": "close"}, 30.0)
        self.peak_bytes = max(self.peak_bytes, reply.get("peak_bytes", 0))
        return reply.get("ended")

    def call(self, file: Path, function: str, deadline: float = 600.0, **arguments: Any) -> Any:
        """Call ``function(evaluator, **arguments)`` of a Python file inside the session.

        Returns:
            The JSON-able result, or the `Outcome` of a failure.
        """
        return self.exchange(file, function, {}, deadline, **arguments)[0]

    def exchange(
        self, file: Path, function: str, put: Mapping[str, Tensor], deadline: float = 600.0, **arguments: Any
    ) -> tuple[Any, dict[str, Tensor]]:
        """The same with values in both directions: `put` is bound first, dense, under its names.

        Returns:
            The result (or the `Outcome` of a failure), and the values of the variables that it lists under ``values``.
        """
        items, body = self._pack([(name, False, value.contiguous()) for name, value in put.items()])
        request = {"do": "call", "file": str(file), "function": function, "arguments": arguments, "deadline": deadline}
        request["feeds"] = items
        reply, extra = self._ask(request, deadline + 10, body)
        if reply["outcome"] != "called":
            return self._failure(reply, ()), {}
        return reply["result"], {entry["name"]: self._tensor(entry, extra) for entry in reply["values"]}

    def stop(self) -> None:
        """End the process and remove its shared files."""
        if self.process is not None:
            self._socket.close()
            try:
                os.killpg(self.process.pid, 9)
            except (ProcessLookupError, PermissionError):
                pass
            self.process.wait()
            self.process = None
        self.ready = False
        self.log.trim()
        self._in_map = None
        self._windows.forget()
        for path in (self.in_path, *(self.out_path + slot for slot in SLOTS)):
            if os.path.exists(path):
                os.unlink(path)

    def tail(self, lines: int = 12) -> str:
        """The last lines that the worker wrote."""
        return self.log.tail(lines)

    # -- the wire ---------------------------------------------------------------------------------------------

    def _evaluate(self, *request: Any) -> Any:
        # Another thread's feeds and answer must not come between these.
        with self._turn:
            return self._evaluated(*request)

    def _evaluated(self, do, program, feeds, returns, free, knobs) -> Any:
        self.ensure()
        remote = knobs.pop("remote", False)
        deadline = knobs.pop("deadline", 60.0)
        patience = knobs.pop("patience", deadline + 30.0)
        wanted = [feed for feed in program.feeds if feed.value in feeds]
        items, body = self._pack([(feed.variable, feed.array, feeds[feed.value]) for feed in wanted])
        steps = [
            {"node": "", "code": "\n".join(f"{feed.variable} = {view}" for view in feed.views)}
            for feed in wanted
            if feed.views
        ]
        steps += [{"node": step.node, "code": "\n".join(step.lines)} for step in program.steps]
        request = {
            "do": do, "feeds": items, "steps": steps, "deadline": deadline, "free": list(free),
            "gradients": program.gradients,
            "returns": [{"name": name, "var": program.variables[name]} for name in returns], **knobs,
        }
        reply, extra = self._ask(request, patience, body)
        if reply["outcome"] != "completed":
            return self._failure(reply, steps)
        self.computed_seconds += reply["computed"]
        if remote:
            # Small answers come inline; they are worth nothing to another worker unless they are tensors here.
            return {entry["name"]: self._remote(entry, extra) for entry in reply["values"]}
        return Completed(
            {entry["name"]: self._tensor(entry, extra) for entry in reply["values"]}, reply.get("seconds", 0.0)
        )

    def _failure(self, reply: dict, steps: Sequence[dict]) -> Outcome:
        at = reply.get("at", -1)
        node = reply.get("node") or (steps[at]["node"] if 0 <= at < len(steps) else "")
        if reply["outcome"] == "raised":
            return Raised(reply["kind"], reply["message"], reply["frame"], node)
        if reply["outcome"] == "timed_out":
            return TimedOut(reply["seconds"], node)
        return Crashed(reply.get("signal", "?"), node, self.tail())

    def _pack(self, values: Sequence[tuple[str, bool, Value]]) -> tuple[list[dict], bytes]:
        """Describe the feeds: inline if they are small together, else in the host's shared file."""
        items, chunks, total = [], [], 0
        for variable, array, value in values:
            if isinstance(value, Tensor):
                shape, name = value.base.shape, value.dtype.name
            else:
                shape = value.base_shape if isinstance(value, Remote) else value.spec.shape
                name = value.spec.dtype
            item = {"var": variable, "array": array, "dtype": name, "shape": list(shape)}
            if isinstance(value, Remote):
                item["at"] = {"file": value.file, "offset": value.offset}
            elif isinstance(value, Zeros):
                item["at"] = None
            else:
                item["at"] = total
                chunks.append((total, value.base))
                total += (value.base.nbytes + 63) // 64 * 64
            items.append(item)
        if total <= INLINE:
            body = bytearray(total)
            for start, base in chunks:
                body[start : start + base.nbytes] = base.tobytes()
            return items, bytes(body)
        self._reserve(total)
        target = np.frombuffer(self._in_map, np.uint8)
        for start, base in chunks:
            if base.nbytes:
                np.copyto(target[start : start + base.nbytes], base.reshape(-1).view(np.uint8))
        for item in items:
            if isinstance(item["at"], int):
                item["at"] = {"file": self.in_path, "offset": item["at"]}
        return items, b""

    def _reserve(self, size: int) -> None:
        if self._in_map is not None and len(self._in_map) >= size:
            return
        with open(self.in_path, "a+b") as file:
            if os.fstat(file.fileno()).st_size < size:
                os.posix_fallocate(file.fileno(), 0, size)
            self._in_map = mmap.mmap(file.fileno(), 0)

    def _memory(self, entry: dict, extra: bytes) -> np.ndarray:
        """The flat memory behind an answer, as a read-only array without a copy."""
        kind = dtype(entry["dtype"]).storage
        at, items = entry["at"], entry["items"]
        if isinstance(at, int):
            return np.frombuffer(extra, kind, items, at)
        return self._windows.items(at["file"], kind, items, at["offset"])

    def _tensor(self, entry: dict, extra: bytes) -> Tensor:
        flat = self._memory(entry, extra)
        shape, strides = tuple(entry["shape"]), tuple(entry["strides"])
        if flat.size == math.prod(shape) and _is_dense(shape, strides):
            return Tensor(flat.reshape(shape).copy(), dtype(entry["dtype"]))
        return from_strided(flat, dtype(entry["dtype"]), shape, strides, entry["offset"])

    def _remote(self, entry: dict, extra: bytes) -> Value:
        shape, strides = tuple(entry["shape"]), tuple(entry["strides"])
        at = entry["at"]
        if isinstance(at, int) or not _is_dense(shape, strides) or entry["items"] != math.prod(shape):
            return self._tensor(entry, extra)
        return Remote(TensorSpec(shape, entry["dtype"], Layout()), shape, at["file"], at["offset"])

    def fetch(self, value: Value) -> Tensor:
        """A `Remote` of this worker as a tensor that views the shared memory (valid until the next answer)."""
        if isinstance(value, Tensor):
            return value
        kind = dtype(value.spec.dtype)
        flat = self._windows.items(value.file, kind.storage, math.prod(value.base_shape), value.offset)
        return Tensor(flat.reshape(value.base_shape), kind, value.spec.layout)

    def _ask(self, request: dict, patience: float, body: bytes = b"") -> tuple[dict, bytes]:
        self.ensure()
        self.log.trim()
        header = json.dumps(request).encode()
        try:
            self._socket.sendall(LENGTHS.pack(len(header), len(body)) + header + body)
            reply, extra = self._receive(patience)
        except OSError:
            reply, extra = None, b""
        except BaseException:
            # The answer is still on its way, and would be taken for that of the next question.
            self.stop()
            raise
        if reply is None:
            status = self.join(0.5)
            running = self.process is not None and self.process.poll() is None
            self.stop()
            if running:
                return {"outcome": "timed_out", "seconds": patience, "at": -1}, b""
            return {"outcome": "crashed", "signal": signal_name(status), "at": -1}, b""
        return reply, extra

    def _receive(self, patience: float) -> tuple[dict | None, bytes]:
        end = time.monotonic() + patience
        head = self._exact(LENGTHS.size, end)
        if head is None:
            return None, b""
        size, extra = LENGTHS.unpack(head)
        header = self._exact(size, end)
        body = self._exact(extra, end) if header is not None else None
        if body is None:
            return None, b""
        reply = json.loads(header)
        return plain(reply) if b"\\u001b" in header else reply, body

    def _exact(self, count: int, end: float) -> bytes | None:
        data, got = bytearray(count), 0
        view = memoryview(data)
        while got < count:
            left = end - time.monotonic()
            self._socket.settimeout(min(max(0.01, left), WATCH_SECONDS))
            try:
                part = self._socket.recv_into(view[got:])
            except TimeoutError:
                self.log.trim()
                if left > WATCH_SECONDS:
                    continue
                return None
            except OSError:
                return None
            if not part:
                return None
            got += part
        return data


def _is_dense(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    step = 1
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent > 1 and stride != step:
            return False
        step *= extent
    return True
