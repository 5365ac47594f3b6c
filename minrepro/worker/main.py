"""The half of minrepro that runs inside a framework's interpreter: standard library, NumPy and the framework only.

Started by path with one connected socket; minrepro is not importable here, and the syntax is Python 3.8's.

The process is a zygote. It imports the framework, sets one thread, and after that never computes: every evaluation
runs in a forked child with a deadline, because a parallel region in the parent leaves the child a dead thread pool
(GNU OpenMP does not survive fork), and because a crash must not cost the imports. The parent relays frames between
host and child, watches deadline and memory, and reports how the child ended.

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
INLINE = 1 << 18  # bytes; larger answers travel through one reused file in shared memory
PAGE = os.sysconf("SC_PAGE_SIZE")


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


def die_with_parent():
    """Ask the kernel to kill this process when its parent is gone (Linux; elsewhere a no-op)."""
    try:
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL)
    except Exception:
        pass


class Evaluator:
    """Lives in the forked child: a namespace of values, and the requests that act on it."""

    def __init__(self, backend, out_path, marker):
        import numpy

        self.numpy = numpy
        self.backend = backend
        self.out_path = out_path
        self.out = None
        self.marker = marker
        self.namespace = {}
        self.maps = {}
        self.files = {}
        for line in backend.BACKEND["imports"].values():
            exec(line, self.namespace)
        exec("import numpy as np", self.namespace)

    def source(self, where, body, count):
        """The bytes a value descriptor points at, without a copy."""
        if isinstance(where, int):
            return memoryview(body)[where : where + count]
        path, offset = where["file"], where["offset"]
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            known = self.maps.get(path)
            if known is None or known[0] < offset + count:
                known = (size, mmap.mmap(file.fileno(), size, prot=mmap.PROT_READ))
                self.maps[path] = known
        return memoryview(known[1])[offset : offset + count]

    def feed(self, item, body):
        """Bind one value: a NumPy array, or a tensor of the framework with memory of its own."""
        numpy = self.numpy
        storage = "uint16" if item["dtype"] == "bfloat16" else item["dtype"]
        kind = numpy.dtype(storage)
        count = kind.itemsize
        for extent in item["shape"]:
            count *= extent
        if item["at"] is None:
            array = numpy.zeros(item["shape"], kind)
        else:
            array = numpy.frombuffer(self.source(item["at"], body, count), dtype=kind).reshape(item["shape"])
        if item.get("array"):
            self.namespace[item["var"]] = array.copy()
        else:
            self.namespace[item["var"]] = self.backend.from_array(array, item["dtype"])

    def run_steps(self, steps):
        """Execute the steps; return None, or the description of what a step raised."""
        for index, step in enumerate(steps):
            self.marker[0:4] = struct.pack("<i", index)
            try:
                exec(compile(step["code"], "<minrepro>", "exec"), self.namespace)
            except Exception as error:
                return dict(describe(error), node=step["node"])
        return None

    def answer(self, returns):
        """Header entries and bytes for the asked variables, with the memory layout the framework gave them."""
        numpy = self.numpy
        entries, chunks, total = [], [], 0
        for item in returns:
            value = self.namespace[item["var"]]
            flat, name, shape, strides, offset = self.backend.to_memory(value)
            flat = numpy.ascontiguousarray(flat)
            if flat.dtype == object:
                raise TypeError("%s is no tensor with memory of its own: %s" % (item["name"], type(value).__name__))
            entries.append(
                {"name": item["name"], "dtype": name, "shape": list(shape), "strides": list(strides),
                 "offset": int(offset), "items": int(flat.size), "at": total}
            )
            chunks.append(flat)
            total += (flat.nbytes + 63) // 64 * 64
        if total <= INLINE:
            body = bytearray(total)
            for entry, flat in zip(entries, chunks):
                body[entry["at"] : entry["at"] + flat.nbytes] = flat.tobytes()
            return entries, body
        self.reserve(total)
        target = numpy.frombuffer(self.out, dtype=numpy.uint8)
        for entry, flat in zip(entries, chunks):
            if flat.nbytes:
                numpy.copyto(target[entry["at"] : entry["at"] + flat.nbytes], flat.reshape(-1).view(numpy.uint8))
            entry["at"] = {"file": self.out_path, "offset": entry["at"]}
        del target
        return entries, b""

    def reserve(self, size):
        """Make the shared output file at least `size` bytes long and map it."""
        size = max(size, PAGE)
        if self.out is not None and len(self.out) >= size:
            return
        with open(self.out_path, "a+b") as file:
            if os.fstat(file.fileno()).st_size < size:
                os.posix_fallocate(file.fileno(), 0, size)
            self.out = mmap.mmap(file.fileno(), size)

    def call(self, request, body, start):
        """Bind the feeds, call a function of a file, and answer with its result and the variables that it lists.

        A result that is a dict may list variables under ``values``; they travel as those of a step do.
        """
        try:
            if request["file"] not in self.files:
                self.files[request["file"]] = load_file(request["file"])
            function = getattr(self.files[request["file"]], request["function"])
            for item in request.get("feeds", ()):
                self.feed(item, body)
            failure = self.run_steps(request.get("steps", ()))
            if failure is not None:
                return dict(failure, outcome="raised"), b""
            result = function(self, **request["arguments"])
            listed = result.get("values", ()) if isinstance(result, dict) else ()
            entries, extra = self.answer([dict(item, name=item["var"]) for item in listed])
        except Exception as error:
            return dict(describe(error), outcome="raised", node="", trace=traceback.format_exc()[-6000:]), b""
        return {"outcome": "called", "result": result, "values": entries, "seconds": time.perf_counter() - start}, extra

    def handle(self, request, body):
        """Answer one request of the host."""
        start = time.perf_counter()
        if request["do"] == "call":
            return self.call(request, body, start)
        gradients = request.get("gradients", False)
        self.backend.prepare(request.get("threads", 1), request.get("seed", 0), gradients)
        self.marker[0:4] = struct.pack("<i", -1)
        for item in request.get("feeds", ()):
            try:
                self.feed(item, body)
            except Exception as error:
                return dict(describe(error), outcome="raised", node=""), b""
        began = time.perf_counter()
        failure = self.run_steps(request.get("steps", ()))
        computed = time.perf_counter() - began
        if failure is not None:
            return dict(failure, outcome="raised"), b""
        try:
            returns = request.get("returns", ())
            # An input whose graph was cut has no gradient: the answer lacks it.
            given = [item for item in returns if not gradients or self.namespace[item["var"]] is not None]
            entries, extra = self.answer(given)
        except Exception as error:
            steps = request.get("steps") or [{"node": ""}]
            return dict(describe(error), outcome="raised", node=steps[-1]["node"]), b""
        for name in request.get("free", ()):
            self.namespace.pop(name, None)
        seconds = time.perf_counter() - start
        return {"outcome": "completed", "values": entries, "seconds": seconds, "computed": computed}, extra


def describe(error):
    """An exception as data: class, text, and the innermost frame that is not ours."""
    frame = ""
    for entry in traceback.extract_tb(error.__traceback__):
        if "<minrepro>" not in entry.filename and entry.filename != __file__:
            parts = entry.filename.replace("\\", "/").split("site-packages/")
            where = os.path.basename(entry.filename) if len(parts) == 1 else parts[-1]
            frame = "%s:%s" % (where, entry.name)
    return {"kind": type(error).__name__, "message": str(error)[:4000], "frame": frame}


def child_loop(evaluator, inward, outward):
    """Serve requests until the parent closes the pipe."""
    while True:
        header, body = read_frame(inward)
        if header is None:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
        reply, extra = evaluator.handle(json.loads(header.decode()), body)
        write_frame(outward, reply, extra)


class Child:
    """The parent's handle on one forked child."""

    def __init__(self, backend, out_path):
        self.marker = mmap.mmap(-1, PAGE)
        to_child, from_child = os.pipe(), os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(to_child[1])
            os.close(from_child[0])
            die_with_parent()
            try:
                child_loop(Evaluator(backend, out_path, self.marker), to_child[0], from_child[1])
            except SystemExit as error:
                # A framework that ends the process ends it as it would end the user's.
                os._exit(error.code if isinstance(error.code, int) else int(error.code is not None))
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(70)
        os.close(to_child[0])
        os.close(from_child[1])
        self.inward, self.outward = from_child[0], to_child[1]

    def ask(self, header, body, deadline, limit_bytes):
        """Forward a request; return the reply frame, or (why, None) if the child died or had to be killed."""
        try:
            write_frame(self.outward, header, body)
        except OSError:
            return self.died(), None
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
        return (reply, extra) if reply is not None else (self.died(), None)

    def at(self):
        """Index of the step that ran last."""
        return struct.unpack("<i", self.marker[0:4])[0]

    def died(self):
        """Reap the child and say how it ended."""
        _, status = os.waitpid(self.pid, 0)
        self.pid = 0
        return {"outcome": "crashed", "signal": ending(status), "at": self.at()}

    def close(self, grace):
        """End the child; return None, or how it ended if that was not a clean exit.

        A kernel that runs on a thread of its own can bring the process down after the answer was given.
        """
        os.close(self.outward)
        end = time.monotonic() + grace
        pause = 0.0005
        while self.pid:
            done, status = os.waitpid(self.pid, os.WNOHANG)
            if done:
                self.pid = 0
                os.close(self.inward)
                return ending(status) if status else None
            if time.monotonic() > end:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
                self.pid = 0
            time.sleep(pause)
            pause = min(pause * 2, 0.02)
        os.close(self.inward)
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
            return int(file.read().split()[1]) * PAGE
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
    session = inline = None
    highest = 0
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
            inline = inline or Evaluator(backend, options["out"], bytearray(4))
            reply, extra = inline.handle(request, body)
            write_frame(fd, reply, extra)
            if not request.get("stay"):
                return
        elif do == "run":
            if request.get("gradients"):
                # Once here, and not once in every child.
                getattr(backend, "import_gradients", int)()
            child = Child(backend, options["out"])
            reply, extra = child.ask(header, body, deadline, options["limit_bytes"])
            if extra is not None:
                highest = max(highest, peak(child.pid))
                ended = child.close(request.get("grace", 5.0))
                if ended is not None:
                    reply, extra = {"outcome": "crashed", "signal": ended, "at": child.at()}, None
            write_frame(fd, reply, extra or b"")
        elif session is None or not session.pid:
            write_frame(fd, {"outcome": "crashed", "signal": "no session", "at": -1})
        else:
            reply, extra = session.ask(header, body, deadline, options["limit_bytes"])
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
        write_frame(connection.fileno(), dict(describe(error), outcome="failed"))
        return
    options["seconds"] = time.perf_counter() - start
    write_frame(connection.fileno(), {"outcome": "ready", "seconds": options["seconds"], "peak_bytes": peak()})
    serve(connection, backend, options)


if __name__ == "__main__":
    main()
    os._exit(0)
