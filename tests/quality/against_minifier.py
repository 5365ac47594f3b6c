"""``python -m tests.quality.against_minifier [NAME ...]``: torch's own minifier and this reducer on the same faults.

Mixer S/16 with 8 blocks, seen as ATen operators; the fault is in the candidate only. Torch's minifier runs in its own
process (`minifier/theirs.py`), and any difference counts for it. Both searches are measured without imports and without
the capture. Ours runs every query in a child of its own; torch's minifier in the same mode starts a Python for each, which
is measured once and multiplied (second figure of ``cpu/isolated``); the first has all its queries in one process.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from minrepro.compare.pair import Pair
from minrepro.shrink import shrink
from tests import faults
from tests.faults.hunt import Ground, find

HERE = Path(__file__).resolve().parent / "minifier"
CASES = {
    "gelu where a dim is at least 7": (faults.FOLDER / "gelu_dim7.py", ("gelu",)),
    "addmm of block 5": (HERE / "addmm_block5.py", ("addmm",)),
    "addmm followed by gelu": (HERE / "addmm_then_gelu.py", ("addmm", "gelu")),
    "three gelus chained": (faults.FOLDER / "gelu_three_deep.py", ("gelu", "gelu", "gelu")),
}
MODEL = f"{HERE / 'mixer8.py'}:build"
COLUMNS = "{:<31} {:<10} {:>6} {:>6} {:>10} {:>8} {:>8} {:>13} {:>8}"
TICKS = 100
"""Clock ticks per second in /proc (USER_HZ, the same on every Linux)."""


class Score(msgspec.Struct):
    """What one tool made of one fault.

    Attributes:
        start, steps: operators before and after.
        numbers: elements of all feeds of the end.
        graph: queries that ran a whole graph or a part of it to find the steps.
        queries: all queries.
        cpu_s: CPU seconds of the search.
        isolated_s: the same with a process for every query.
        wall_s: wall seconds.
    """

    start: int
    steps: int
    numbers: int
    graph: int
    queries: int
    cpu_s: float
    isolated_s: float
    wall_s: float


def theirs(fault: Path, interpreter: str, import_s: float) -> Score:
    """Run torch's minifier."""
    run = subprocess.run(
        [interpreter, str(HERE / "theirs.py"), str(fault)], capture_output=True, text=True, cwd=tempfile.gettempdir()
    )
    if run.returncode:
        raise SystemExit(f"torch's minifier ended with {run.returncode}:\n{run.stderr[-2000:]}")
    found = json.loads(run.stdout.splitlines()[-1])
    return Score(
        found["start_steps"], found["steps"], found["numbers"], found["queries"], found["queries"], found["cpu_s"],
        found["cpu_s"] + found["queries"] * import_s, found["wall_s"],
    )


def ours(fault: Path, ops: tuple[str, ...], ground: Ground, folder: Path) -> Score:
    """Localise and reduce."""
    planted = faults.Fault(fault.stem, fault.stem, "minifier", MODEL, ops, "value", fault)
    began, spent = time.perf_counter(), []

    def ready(pair: Pair) -> None:
        pair.numpy.worker.ensure()
        spent.append(all_cpu(pair))

    found = find(planted, ground, folder, ready)
    pair: Pair = found.oracle.pair
    try:
        reduction = shrink(found.oracle)
        used = all_cpu(pair) - spent[0]
    finally:
        pair.stop(reference=False)
    steps = tuple(node.op for node in reduction.case.graph.nodes)
    if steps != ops:
        raise SystemExit(f"{fault.stem}: expected {', '.join(ops)}, found {reduction.case.summary()}")
    graph = found.passes + found.subsets
    graph += sum(reduction.queries.get(name, 0) for name in ("graph_bypass", "graph_drop"))
    queries = found.passes + found.subsets + reduction.queries["warm"]
    wall = time.perf_counter() - began
    nodes = len(ground.captured.graph.nodes)
    return Score(nodes, len(steps), reduction.case.elements, graph, queries, used, used, wall)


def all_cpu(pair: Pair) -> float:
    """CPU seconds of this process and of the three workers so far."""
    sides = (pair.reference, pair.candidate, pair.numpy)
    return time.process_time() + sum(worker_cpu(side.worker.process.pid) for side in sides)


def worker_cpu(pid: int) -> float:
    """CPU seconds of a process and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(int(value) for value in fields[11:15]) / TICKS


def import_cost(interpreter: str) -> float:
    """CPU seconds that a fresh Python with torch and its tracing costs: what isolation adds to each query of theirs."""
    code = "import torch, torch.fx.experimental.proxy_tensor, time; print(time.process_time())"
    return float(subprocess.run([interpreter, "-c", code], capture_output=True, text=True, check=True).stdout)


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.quality.against_minifier", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts of the names of faults; all by default")
    options = parser.parse_args()
    chosen = {name: case for name, case in CASES.items() if not options.names or any(n in name for n in options.names)}
    print(COLUMNS.format(*"fault tool start steps numbers graph queries cpu/isolated wall".split()))
    with tempfile.TemporaryDirectory(prefix="minrepro-minifier-") as folder:
        ground = Ground(MODEL, Path(folder), "dispatch")
        interpreter = ground.reference.worker.interpreter
        cost = import_cost(interpreter)
        try:
            for name, (fault, ops) in chosen.items():
                print(line(name, "minrepro", ours(fault, ops, ground, Path(folder) / fault.stem)), flush=True)
                print(line("", "torch", theirs(fault, interpreter, cost)), flush=True)
        finally:
            ground.stop()
    return 0


def line(name: str, tool: str, score: Score) -> str:
    """A row of the table."""
    cpu = f"{score.cpu_s:.1f}/{score.isolated_s:.1f}"
    numbers, wall = f"{score.numbers:,}", f"{score.wall_s:.1f}"
    return COLUMNS.format(name, tool, score.start, score.steps, numbers, score.graph, score.queries, cpu, wall)


if __name__ == "__main__":
    sys.exit(main())
