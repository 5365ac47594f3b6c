"""Benchmark of the wire: round trips of 1 KB, 1 MB and 100 MB, and one isolated evaluation of a small case.

    python -m tests.quality.wire [BACKEND ...] [--json]

Every row is the best of several runs in this one process; "pickle" is the same array through a
`multiprocessing` connection to a child of this interpreter, as the yardstick.
"""

from __future__ import annotations

import json
import multiprocessing
import sys
import tempfile
import time
from pathlib import Path
from typing import Callable

import numpy as np

from minrepro import backends
from minrepro.backends.program import Feed, Program, program
from minrepro.environments import resolve
from minrepro.ir.graph import Graph, Node, Ref
from minrepro.ir.tensor import Tensor
from minrepro.worker.client import Worker

SIZES = {"1 KB": 256, "1 MB": 1 << 18, "100 MB": 25_000_000}


def best(action: Callable[[], object], times: int) -> float:
    """Seconds of the fastest of several runs."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def measure(name: str) -> dict[str, float]:
    """Seconds per row for one backend."""
    spec = backends.parse(name)
    echo = Program((Feed("x", "x", False, ()),), (), {"x": "x"})
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        worker = Worker(spec.backend, resolve(spec).interpreter, Path(folder))
        worker.ensure()
        rows["import"] = worker.import_seconds
        worker.open()
        for label, count in SIZES.items():
            tensor = Tensor(np.arange(count, dtype=np.float32))
            times = 5 if count > 1e6 else 50
            rows[label] = best(lambda tensor=tensor: worker.step(echo, {"x": tensor}, ("x",), remote=True), times)
        worker.close()
        graph = Graph(("x",), (Node("relu", {"self": Ref("x")}, ("y",)),), ("y",))
        feeds = {"x": Tensor(np.arange(-4, 4, dtype=np.float32))}
        text = program(graph, {"x": feeds["x"].spec}, spec.backend)
        rows["isolated evaluation"] = best(lambda: worker.run(text, feeds, ("y",)), 20)
        worker.stop()
    return rows


def pickled() -> dict[str, float]:
    """The yardstick: the same arrays through pickle and a pipe."""
    here, there = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=_echo, args=(there,), daemon=True)
    child.start()
    rows = {}
    for label, count in SIZES.items():
        array = np.arange(count, dtype=np.float32)
        rows[label] = best(lambda array=array: (here.send(array), here.recv()), 3 if count > 1e6 else 50)
    child.terminate()
    return rows


def _echo(connection) -> None:
    while True:
        connection.send(connection.recv())


def main() -> None:
    """Print the table."""
    names = [argument for argument in sys.argv[1:] if not argument.startswith("-")] or ["torch", "paddle", "oneflow"]
    table = {"pickle and a pipe": pickled(), **{name: measure(name) for name in names}}
    if "--json" in sys.argv:
        print(json.dumps(table))
        return
    labels = [*SIZES, "isolated evaluation", "import"]
    print(f"{'ms':<20}" + "".join(f"{label:>21}" for label in labels))
    for name, rows in table.items():
        print(f"{name:<20}" + "".join(f"{rows[x] * 1e3:21.2f}" if x in rows else f"{'':>21}" for x in labels))


if __name__ == "__main__":
    main()
