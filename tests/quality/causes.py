"""``python -m tests.quality.causes [NAME ...] [--json]``: which cause is named for which planted fault.

Prints the confusion matrix, one row per planted cause and one column per rule that was confirmed. A rule passes if it
is confirmed on its own faults and on no other.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Iterator

import msgspec

from minrepro.backends.program import Step
from minrepro.compare.pair import Pair, Side, open_side
from minrepro.diagnose import Scene, causes, diagnose
from minrepro.ir.outcome import Outcome

from ..faults.hunt import torch_spec
from .planted import Planted, table

DEADLINE_S = 20.0


class PlantedPair(Pair):
    """One torch worker on both sides; the candidate's runs are patched in their own forked child.

    That is what a worker with a plugin does, without one import of torch per fault.
    """

    fault: Path

    def isolated(self, side: Side, operators, text, feeds, outputs, knobs) -> Outcome:
        """Run on one side; the candidate loads its fault first."""
        if side is self.candidate:
            lines = (
                "_fault = {}",
                f"exec(compile(open({str(self.fault)!r}).read(), 'fault', 'exec'), _fault)",
                "_fault['install'](None)",
            )
            steps = (Step("fault", lines, ()), *text.steps)
            text = msgspec.structs.replace(text, steps=steps)
        return super().isolated(side, operators, text, feeds, outputs, knobs)


class Result(msgspec.Struct):
    """What was said about one planted fault.

    Attributes:
        fault: its file.
        cause: what was planted.
        named: what the diagnosis says.
        confirmed: every rule whose probes were all confirmed.
        side: who is blamed.
        seconds: of the diagnosis.
    """

    fault: str
    cause: str
    named: str
    confirmed: tuple[str, ...] = ()
    side: str = ""
    seconds: float = 0.0

    @property
    def right(self) -> bool:
        """True if the planted cause is named, the right side blamed, and every other rule silent."""
        expected = () if self.cause == "unexplained" else (self.cause,)
        return self.named == self.cause and self.confirmed == expected and self.side == "candidate"


def open_pair(folder: Path) -> PlantedPair:
    """The shared worker as two sides."""
    reference = open_side(torch_spec(), folder)
    return PlantedPair(reference, Side(reference.spec, reference.worker), folder, DEADLINE_S)


def examine(planted: Planted, pair: PlantedPair) -> Result:
    """Diagnose one planted fault."""
    began = time.monotonic()
    pair.fault = planted.path
    case = planted.case
    comparison, left, right = pair.compare(case)
    if comparison.divergence is None:
        return Result(planted.file, planted.cause, f"not seen: {comparison.verdict} {comparison.why}")
    scene = Scene(pair, case, left, right, comparison.divergence)
    confirmed, _ = causes(scene)
    named = diagnose(scene)
    return Result(
        planted.file,
        planted.cause,
        named.cause,
        tuple(found.cause for found in confirmed),
        named.side,
        time.monotonic() - began,
    )


def run(chosen: tuple[Planted, ...]) -> Iterator[Result]:
    """Examine some faults with one worker."""
    with tempfile.TemporaryDirectory(prefix="minrepro-causes-") as folder:
        pair = open_pair(Path(folder))
        try:
            for planted in chosen:
                yield examine(planted, pair)
        finally:
            pair.stop()


def matrix(results: list[Result]) -> str:
    """The confusion matrix as text: rows are planted, columns confirmed."""
    counts = Counter((result.cause, name) for result in results for name in (result.confirmed or ("unexplained",)))
    names = sorted({result.cause for result in results} | {name for _, name in counts})
    width = max(map(len, names), default=0)
    lines = [" " * (width + 5) + " ".join(f"{i + 1:>2}" for i in range(len(names)))]
    for number, planted in enumerate(names, 1):
        cells = " ".join(f"{counts[planted, name] or '.':>2}" for name in names)
        lines.append(f"{number:>3}. {planted:<{width}}{cells}")
    return "\n".join(lines)


def main() -> int:
    """Run the command; status 1 if a cause is missed or speaks out of turn."""
    parser = argparse.ArgumentParser(prog="python -m tests.quality.causes", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="fault files; all by default")
    parser.add_argument("--json", action="store_true", help="print results as JSON and nothing else")
    options = parser.parse_args()
    chosen = tuple(p for p in table() if not options.names or p.file in options.names)
    results = []
    for result in run(chosen):
        results.append(result)
        if not options.json:
            more = "" if result.right else f"   confirmed: {', '.join(result.confirmed) or 'nothing'} ({result.side})"
            line = f"{'ok' if result.right else 'NO':<3} {result.fault:<26} {result.cause:<28} {result.named:<28}"
            print(f"{line} {result.seconds:5.1f} s{more}", flush=True)
    right = sum(result.right for result in results)
    if options.json:
        print(json.dumps([msgspec.to_builtins(result) for result in results], indent=1))
    else:
        print(matrix(results))
        print(f"{right} of {len(results)} faults: the planted cause is named and every other rule is silent")
    return 0 if right == len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
