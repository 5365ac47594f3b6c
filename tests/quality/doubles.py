"""``python -m tests.quality.doubles [NAME ...] [--json]``: two faults in one step, and a reduction that could slip.

Each fault file with a table ``DOUBLE`` has one bug in the case as it is found and another one in what the reducer tries
on its way. The end has to show the first; the second has to be kept aside, as a case that shows it and nothing else.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any, Iterator, Mapping

import msgspec

from minrepro.compare.pair import Pair
from minrepro.ir.case import Case
from minrepro.ir.graph import Graph, Node, Ref
from minrepro.ir.signature import Signature
from minrepro.ops import sample
from minrepro.shrink import shrink
from minrepro.shrink.oracle import Oracle, signature_of

from ..faults import FOLDER
from .causes import PlantedPair, open_pair

DEADLINE_S = 1.0


class Double(msgspec.Struct, frozen=True):
    """A fault file with two bugs.

    Attributes:
        file: its name.
        op: the operator, or several that feed each other.
        feeds: parameter of the first operator -> sample expression.
        first: symptom and class or signal of the bug in the case as it is found.
        second: the same of the other bug.
        args: further arguments of the first operator.
    """

    file: str
    op: str
    feeds: Mapping[str, str]
    first: tuple[str, str]
    second: tuple[str, str]
    args: Mapping[str, Any] = {}
    title: str = ""

    @property
    def path(self) -> Path:
        """The fault file."""
        return FOLDER / f"{self.file}.py"

    @property
    def case(self) -> Case:
        """The case as it is found."""
        values = {name: eval(text, vars(sample)) for name, text in self.feeds.items()}  # our own table, not input
        names = self.op.split(", ")
        nodes = [Node(names[0], {**{name: Ref(name) for name in values}, **self.args}, ("out0",))]
        nodes += [Node(op, {"self": Ref(f"out{i}")}, (f"out{i + 1}",)) for i, op in enumerate(names[1:])]
        graph = Graph(tuple(values), tuple(nodes), (f"out{len(names) - 1}",))
        return Case(graph, values, "torch", "torch")


@cache
def table() -> tuple[Double, ...]:
    """Every double fault."""
    found = []
    for path in sorted(FOLDER.glob("double_*.py")):
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(statement, ast.Assign) and getattr(statement.targets[0], "id", "") == "DOUBLE":
                found.append(msgspec.convert({**ast.literal_eval(statement.value), "file": path.stem}, Double))
    return tuple(found)


class Result(msgspec.Struct):
    """What became of a double fault.

    Attributes:
        fault: its file.
        start, end: signatures of the case as found and of the case at the end, asked anew.
        aside: signatures that were kept aside and that their cases show when they are asked anew.
        kept: the end shows the first bug.
        told: the second bug was kept aside.
        elements: of the case at the end.
        queries: runs of the candidate.
        seconds: of it all.
    """

    fault: str
    start: str
    end: str
    aside: tuple[str, ...]
    kept: bool
    told: bool
    elements: int
    queries: int
    seconds: float


def examine(double: Double, pair: PlantedPair, folder: Path) -> Result:
    """Reduce a double fault."""
    began = time.monotonic()
    pair.fault, pair.deadline_s = double.path, DEADLINE_S
    case = double.case
    start = _signature(pair, case)
    assert start is not None and _is(start, double.first), f"{double.file} starts with {start}"
    folder.mkdir(parents=True, exist_ok=True)
    oracle = Oracle(pair, case, start, folder)
    oracle.observe()
    reduction = shrink(oracle)
    end = _signature(pair, reduction.case)
    aside = [found for told, other in reduction.slipped if (found := _signature(pair, other)) == told]
    return Result(
        double.file, str(start), str(end), tuple(map(str, aside)), end == start,
        any(found is not None and found != start and _is(found, double.second) for found in aside),
        reduction.case.elements, reduction.queries["warm"], time.monotonic() - began,
    )


def _signature(pair: Pair, case: Case) -> Signature | None:
    comparison, left, right = pair.compare(case)
    return signature_of(case, comparison, right, left)


def _is(signature: Signature, what: tuple[str, str]) -> bool:
    return (signature.symptom, signature.kind) == what


def run(chosen: tuple[Double, ...]) -> Iterator[Result]:
    """Reduce some double faults with one worker."""
    with tempfile.TemporaryDirectory(prefix="minrepro-doubles-") as folder:
        pair = open_pair(Path(folder))
        try:
            for double in chosen:
                yield examine(double, pair, Path(folder) / double.file)
        finally:
            pair.stop()


def main() -> int:
    """Run the command; status 1 if an end shows another bug than its start, or the second bug is not told."""
    parser = argparse.ArgumentParser(prog="python -m tests.quality.doubles", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="fault files; all by default")
    parser.add_argument("--json", action="store_true", help="print results as JSON and nothing else")
    options = parser.parse_args()
    results = []
    for result in run(tuple(d for d in table() if not options.names or d.file in options.names)):
        results.append(result)
        if not options.json:
            state = "ok " if result.kept and result.told else "NO "
            print(f"{state} {result.fault:<24} {result.end:<58} {result.elements:>3} elements {result.queries:>4} runs "
                  f"{result.seconds:5.1f} s   aside: {'; '.join(result.aside) or 'nothing'}", flush=True)
    kept, told = sum(r.kept for r in results), sum(r.told for r in results)
    if options.json:
        print(json.dumps([msgspec.to_builtins(result) for result in results], indent=1))
    else:
        print(f"{len(results)} double faults: {kept} end with the signature of their start, {told} second bugs told")
    return 0 if kept == told == len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
