"""The half of minrepro that runs inside a framework's interpreter: standard library, NumPy and the framework only.

Started by path with one connected socket; minrepro is not importable here, and the syntax is Python 3.8's.

The process is a zygote. It imports the framework, sets one thread, and after that never computes: every evaluation
runs in a forked child with a deadline, because a parallel region in the parent leaves the child a dead thread pool
(GNU OpenMP does not survive fork), and because a crash must not cost the imports. The parent relays frames between
host and child, watches deadline and memory, and reports how the child ended. What a child does is in `evaluator.py`.

A frame is two big-endian uint64 lengths, a JSON header, raw bytes. Nothing is ever unpickled.
"""

import importlib.util
import json
import mmap
import os
import select
import signal
import socket
import struct
import sys
import time
import traceback

LENGTHS = struct.Struct(">QQ")


def read_exact(fd, count):
    """Read `count` bytes from a file descriptor; None if the other end is gone."""
    data = bytearray(count)
    view, got = memoryview(data), 0
    while got < count:
        part = os.readv(fd, [view[got:]])
        if not part:
            return None
        got += part
    return data


def read_frame(fd):
    """Read one frame; (None, None) at the end of the stream."""
    head = read_exact(fd, LENGTHS.size)
    if head is None:
        return None, None
    size, extra = LENGTHS.unpack(bytes(head))
    header, body = read_exact(fd, size), read_exact(fd, extra)
    if header is None or body is None:
        return None, None
    return bytes(header), body


def write_all(fd, data):
    """Write every byte."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def write_frame(fd, header, body=b""):
    """Write one frame; `header` is a JSON-able object or its bytes."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    write_all(fd, LENGTHS.pack(len(text), len(body)) + text)
    if body:
        write_all(fd, body)


def load_file(path):
    """Import a Python file by path under a name of its own."""
    name = "minrepro_" + os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


evaluator = load_file(os.path.join(os.path.dirname(os.path.abspath(__file__)), "evaluator.py"))


def die_with_parent():
    """Ask the kernel to kill this process when its parent is gone (Linux; elsewhere a no-op)."""
    try:
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL)
    except Exception:
        pass


def child_loop(own, inward, outward):
    """Serve requests until the parent closes the pipe."""
    while True:
        header, body = read_frame(inward)
        if header is None:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
        reply, extra = own.handle(json.loads(header.decode()), body)
        write_frame(outward, reply, extra)


class Child:
    """The parent's handle on one forked child."""

    ends = set()
    """The parent's ends of the pipes to all children: a child that held one would keep another from seeing its end."""

    def __init__(self, backend, out_path):
        self.marker = mmap.mmap(-1, evaluator.PAGE)
        to_child, from_child = os.pipe(), os.pipe()
        self.inward, self.outward = from_child[0], to_child[1]
        self.ends.update((self.inward, self.outward))
        self.pid = os.fork()
        if self.pid == 0:
            for end in self.ends:
                os.close(end)
            die_with_parent()
            try:
                child_loop(evaluator.Evaluator(backend, out_path, self.marker, load_file), to_child[0], from_child[1])
            except SystemExit as error:
                # A framework that ends the process ends it as it would end the user's.
                os._exit(error.code if isinstance(error.code, int) else int(error.code is not None))
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(70)
        os.close(to_child[0])
        os.close(from_child[1])

    def shut(self, *ends):
        """Close ends of the pipes that are still open."""
        for end in self.ends.intersection(ends):
            os.close(end)
            self.ends.discard(end)

    def send(self, header, body):
        """Forward a request; that the child is gone shows when it is asked for the answer."""
        try:
            write_frame(self.outward, header, body)
        except OSError:
            pass

    def answer(self, deadline, limit_bytes, noting=0.0):
        """The reply frame to the request, or (why, None) if the child died or had to be killed.

        In its last `noting` seconds the child writes down the frames of threads that go on running, which may bring it down:
        that is still a request that was not answered in time.
        """
        end = time.monotonic() + deadline
        poll = select.poll()
        poll.register(self.inward, select.POLLIN | select.POLLHUP)
        while True:
            left = end - time.monotonic()
            if left <= 0:
                os.kill(self.pid, signal.SIGKILL)
                self.died()
                return {"outcome": "timed_out", "seconds": deadline, "at": self.at()}, None
            if poll.poll(min(left, 0.5) * 1000):
                break
            if resident(self.pid) > limit_bytes:
                os.kill(self.pid, signal.SIGKILL)
                self.died()
                return {"outcome": "crashed", "signal": "memory limit", "at": self.at()}, None
        reply, extra = read_frame(self.inward)
        if reply is not None:
            return reply, extra
        late, why = end - time.monotonic() <= noting, self.died()
        return (dict(why, outcome="timed_out", seconds=deadline) if late and why["signal"] == "SIGSEGV" else why), None

    def at(self):
        """Index of the step that ran last."""
        return struct.unpack("<i", self.marker[0:4])[0]

    def died(self):
        """Reap the child and say how it ended."""
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        self.shut(self.inward, self.outward)
        return {"outcome": "crashed", "signal": ending(status), "at": self.at()}

    def close(self, grace):
        """End the child; return None, or how it ended if that was not a clean exit.

        A kernel that runs on a thread of its own can bring the process down after the answer was given.
        """
        self.shut(self.outward)
        end, pause, leaving = time.monotonic() + grace, 0.0, select.poll()
        leaving.register(self.inward, 0)  # only the hang-up, which comes when the process is all but gone
        while self.pid:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                self.pid = 0
                self.shut(self.inward)
                return ending(status) if status else None
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                self.died()
            elif pause or leaving.poll(20):
                # A process of the child's own may hold the pipe, or the last steps of its end take a moment.
                time.sleep(pause)
                pause = min(pause * 2 or 0.0001, 0.02)
        return None


def ending(status):
    """How a process ended, from what `waitpid` says."""
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    name = next((s.name for s in signal.Signals if s == number), "signal %d" % number)
    return name if number else "exit %d" % os.WEXITSTATUS(status)


def resident(pid):
    """Resident bytes of a process; 0 if it is gone."""
    try:
        with open("/proc/%d/statm" % pid) as file:
            return int(file.read().split()[1]) * evaluator.PAGE
    except (OSError, IndexError, ValueError):
        return 0


def peak(pid="self"):
    """Largest resident size so far, in bytes."""
    try:
        with open("/proc/%s/status" % pid) as file:
            for line in file:
                if line.startswith("VmHWM"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def serve(connection, backend, options):
    """The parent's loop: fork, relay, watch, report."""
    fd = connection.fileno()
    session = inline = spare = None
    highest, gradients = 0, False
    while True:
        header, body = read_frame(fd)
        if header is None:
            return
        request = json.loads(header.decode())
        do, deadline = request["do"], request.get("deadline", 60.0)
        if do == "hello":
            write_frame(fd, {"pid": os.getpid(), "peak_bytes": peak(), "seconds": options["seconds"],
                             "python": sys.version.split()[0], "environment": backend.describe()})
        elif do == "open":
            if session is not None and session.pid:
                session.close(0.0)
            session = Child(backend, options["out"])
            write_frame(fd, {"outcome": "opened"})
        elif do == "close":
            if session is not None and session.pid:
                highest = max(highest, peak(session.pid))
            ended = session.close(request.get("grace", 2.0)) if session is not None and session.pid else None
            session = None
            write_frame(fd, {"outcome": "closed", "ended": ended, "peak_bytes": max(highest, peak())})
        elif do == "direct":
            # No fork: for what does not survive one. The process ends afterwards, unless it is asked to stay.
            inline = inline or evaluator.Evaluator(backend, options["out"], bytearray(4), load_file)
            reply, extra = inline.handle(request, body)
            write_frame(fd, reply, extra)
            if not request.get("stay"):
                return
        elif do == "run":
            if request.get("gradients") and not gradients:
                # Once here, and not once in every child.
                getattr(backend, "import_gradients", int)()
                gradients = True
                if spare is not None:
                    spare.close(0.0)
                    spare = None
            child = spare or Child(backend, options["out"])
            child.send(header, body)
            # The next one is forked while this one works, which takes about as long.
            spare = Child(backend, options["out"])
            reply, extra = child.answer(deadline, options["limit_bytes"])
            if extra is not None:
                highest = max(highest, peak(child.pid))
                ended = child.close(request.get("grace", 5.0))
                if ended is not None:
                    reply, extra = {"outcome": "crashed", "signal": ended, "at": child.at()}, None
            write_frame(fd, reply, extra or b"")
        elif session is None or not session.pid:
            write_frame(fd, {"outcome": "crashed", "signal": "no session", "at": -1})
        else:
            session.send(header, body)
            noting = evaluator.noting(deadline) if do == "call" else 0.0
            reply, extra = session.answer(deadline, options["limit_bytes"], noting)
            write_frame(fd, reply, extra or b"")


def main():
    """Entry: socket descriptor and a JSON object of options on the command line."""
    options = json.loads(sys.argv[2])
    die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    log = os.open(options["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    connection = socket.socket(fileno=int(sys.argv[1]))
    start = time.perf_counter()
    try:
        backend = load_file(options["backend"])
        backend.start(options.get("options", {}))
        for path in options.get("plugins", ()):
            load_file(path).install(backend)
    except BaseException as error:
        traceback.print_exc()
        write_frame(connection.fileno(), dict(evaluator.describe(error), outcome="failed"))
        return
    options["seconds"] = time.perf_counter() - start
    write_frame(connection.fileno(), {"outcome": "ready", "seconds": options["seconds"], "peak_bytes": peak()})
    serve(connection, backend, options)


if __name__ == "__main__":
    main()
    os._exit(0)
