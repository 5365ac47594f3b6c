"""``python -m tests.faults [NAME ...] [--json]``: find and reduce every planted fault, and print one table."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from itertools import groupby
from pathlib import Path

import msgspec

from . import Fault, table
from .brute import Minimum, minima
from .hunt import Ground, Row, hunt

COLUMNS = "{:<27} {:<12} {:<29} {:>8} {:>7} {:>5} {:>5} {:>7} {:>7} {:>6}"
HEAD = COLUMNS.format(*"fault model found elements minimum equal warm graph slipped s".split())


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="faults; all by default")
    parser.add_argument("--json", action="store_true", help="print rows as JSON and nothing else")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in table()]
    if unknown:
        parser.error(f"unknown fault {unknown[0]!r}; known: {', '.join(table())}")
    chosen = [fault for fault in table().values() if not options.names or fault.name in options.names]
    known, rows = minima(), []
    if not options.json:
        print(HEAD)
    for row in run(chosen):
        rows.append(row)
        if not options.json:
            print(line(row, known.get(row.fault)), flush=True)
    if options.json:
        print(json.dumps({"rows": [msgspec.to_builtins(row) for row in rows], **summary(rows, known)}, indent=1))
    else:
        print(closing(rows, known))
    return 0


def run(faults: list[Fault]):
    """The rows of some faults; each model is captured once."""
    with tempfile.TemporaryDirectory(prefix="minrepro-faults-") as folder:
        for _, group in groupby(sorted(faults, key=lambda fault: fault.model), key=lambda fault: fault.model):
            group = list(group)
            ground = Ground(group[0].model_path, Path(folder))
            try:
                for fault in group:
                    yield hunt(fault, ground, Path(folder) / fault.name)
            finally:
                ground.stop()


def equal(row: Row, known: Minimum | None) -> bool:
    """True if the end is as small as brute force can make it."""
    return known is not None and not row.error and (row.nodes, row.elements) == (known.nodes, known.elements)


def line(row: Row, known: Minimum | None) -> str:
    """A row as text."""
    minimum = f"{known.elements}" if known is not None else "?"
    ops = "+".join(row.ops) or row.error[:29]
    model = row.model.rpartition("/")[2].partition(":")[0]
    graph = f"{row.passes}+{row.subsets}"
    return COLUMNS.format(
        row.fault, model, ops[:29], row.elements, minimum, "yes" if equal(row, known) else "NO", row.warm, graph,
        "YES" if row.slipped else "no", f"{row.seconds:.1f}",
    )


def summary(rows: list[Row], known: dict[str, Minimum]) -> dict[str, float]:
    """The figures of the last line."""
    done = [row for row in rows if not row.error]
    return {
        "faults": len(rows),
        "equal_percent": 100.0 * sum(equal(row, known.get(row.fault)) for row in rows) / max(1, len(rows)),
        "slipped": sum(row.slipped for row in rows),
        "median_warm": statistics.median(row.warm for row in done) if done else 0,
        "most_warm": max((row.warm for row in done), default=0),
        "seconds": sum(row.seconds for row in rows),
    }


def closing(rows: list[Row], known: dict[str, Minimum]) -> str:
    """The last line."""
    s = summary(rows, known)
    return (
        f"{s['faults']} faults, {s['equal_percent']:.0f} % end at the minimum, {s['slipped']} slipped accepted, "
        f"median {s['median_warm']:g} warm queries (most {s['most_warm']}), {s['seconds']:.0f} s"
    )


if __name__ == "__main__":
    sys.exit(main())
