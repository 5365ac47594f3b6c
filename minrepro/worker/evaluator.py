"""What a forked child holds: a namespace of values, and the requests of the host that act on it.

Part of `main.py`, which loads it by path: standard library, NumPy and the framework only, Python 3.8.
"""

import faulthandler
import mmap
import os
import struct
import time
import traceback

INLINE = 1 << 18  # bytes; larger answers travel through one reused file in shared memory
PAGE = os.sysconf("SC_PAGE_SIZE")
HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def noting(deadline):
    """How long before its deadline a call writes down where it stands, in seconds."""
    return min(1.0, 0.1 * deadline)


class Evaluator:
    """One namespace.

    Args:
        backend: the loaded ``backends/<name>.py``.
        out_path: file in shared memory for large answers; a request may ask for another one, named after it.
        marker: four bytes that say which step runs.
        load: imports a Python file by path.
    """

    def __init__(self, backend, out_path, marker, load):
        import numpy

        self.numpy, self.load = numpy, load
        self.backend = backend
        self.out_path = out_path
        self.outs = {}
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

    def answer(self, returns, slot=""):
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
        path = self.out_path + slot
        target = numpy.frombuffer(self.reserve(path, total), dtype=numpy.uint8)
        for entry, flat in zip(entries, chunks):
            if flat.nbytes:
                numpy.copyto(target[entry["at"] : entry["at"] + flat.nbytes], flat.reshape(-1).view(numpy.uint8))
            entry["at"] = {"file": path, "offset": entry["at"]}
        del target
        return entries, b""

    def reserve(self, path, size):
        """A shared output file of at least `size` bytes, mapped."""
        size = max(size, PAGE)
        if path not in self.outs or len(self.outs[path]) < size:
            with open(path, "a+b") as file:
                if os.fstat(file.fileno()).st_size < size:
                    os.posix_fallocate(file.fileno(), 0, size)
                self.outs[path] = mmap.mmap(file.fileno(), size)
        return self.outs[path]

    def call(self, request, body, start):
        """Bind the feeds, call a function of a file, and answer with its result and the variables that it lists.

        A result that is a dict may list variables under ``values``; they travel as those of a step do. Shortly before its
        deadline it writes into the log where it stands.
        """
        deadline = request.get("deadline", 60.0)
        faulthandler.dump_traceback_later(max(0.01, deadline - noting(deadline)), file=2)
        try:
            if request["file"] not in self.files:
                self.files[request["file"]] = self.load(request["file"])
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
        finally:
            faulthandler.cancel_dump_traceback_later()
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
            entries, extra = self.answer(given, request.get("slot", ""))
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
        if "<minrepro>" not in entry.filename and not entry.filename.startswith(HERE):
            parts = entry.filename.replace("\\", "/").split("site-packages/")
            where = os.path.basename(entry.filename) if len(parts) == 1 else parts[-1]
            frame = "%s:%s" % (where, entry.name)
    return {"kind": type(error).__name__, "message": str(error)[:4000], "frame": frame}
