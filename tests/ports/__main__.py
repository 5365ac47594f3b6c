"""``python -m tests.ports [--only NAME] [--seed N] [--json]``: align ports with a mistake in them; print one table."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from statistics import median

import msgspec

from .mistakes import Mistake, table
from .planted import Ground, Outcome

COLUMNS = "{:<31} {:<8} {:>4} {:<10} {:<40} {:<6} {:<6} {:>5} {:<9} {:>5}"
HEAD = COLUMNS.format("mistake", "port", "seed", "verdict", "named", "unit?", "line?", "lines", "framework", "s")


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.ports", description=__doc__)
    parser.add_argument("--only", action="append", metavar="NAME", help="a mistake; may be repeated; all by default")
    parser.add_argument("--seed", action="append", type=int, help="seed of model and inputs; 0 and 1 by default")
    parser.add_argument("--json", action="store_true", help="print outcomes as JSON and nothing else")
    options = parser.parse_args()
    known = {mistake.name: mistake for mistake in table()}
    unknown = [name for name in options.only or () if name not in known]
    if unknown:
        parser.error(f"unknown mistake {unknown[0]!r}; known: {', '.join(known)}")
    outcomes = []
    if not options.json:
        print(HEAD)
    for outcome in run([known[name] for name in options.only or known], options.seed or [0, 1]):
        outcomes.append(outcome)
        if not options.json:
            print(line(outcome), flush=True)
    print(json.dumps(msgspec.to_builtins(outcomes), indent=1) if options.json else closing(outcomes))
    return 0


def run(mistakes: list[Mistake], seeds: list[int]) -> Iterator[Outcome]:
    """Align once per mistake and seed; the workers of a framework stay."""
    with tempfile.TemporaryDirectory(prefix="minrepro-ports-") as folder:
        for framework, group in groupby(sorted(mistakes, key=lambda m: m.framework), key=lambda m: m.framework):
            ground = Ground(framework, Path(folder) / framework)
            try:
                for mistake in group:
                    for seed in mistake.seeds or seeds:
                        yield ground.plant(mistake, seed)
            finally:
                ground.stop()


def line(outcome: Outcome) -> str:
    """An outcome as text; what the report said follows where it was not the right thing."""
    text = COLUMNS.format(
        outcome.mistake, outcome.framework_name, outcome.seed, outcome.verdict, outcome.unit[-40:] or "(root)",
        "yes" if outcome.named else "NO", "yes" if outcome.lined else "NO", outcome.lines,
        "BLAMED" if outcome.framework else "no", f"{outcome.seconds:.1f}",
    )
    if outcome.strays:
        text += f"\n    beside it: {', '.join(outcome.strays)}"
    if right(outcome):
        return text
    return f"{text}\n    {outcome.note}"


def right(outcome: Outcome) -> bool:
    """True if unit and line were named, the kind of verdict is right, and the framework is left in peace."""
    due = next(mistake.verdict for mistake in table() if mistake.name == outcome.mistake)
    return outcome.named and outcome.lined and outcome.verdict == due and not outcome.framework


def closing(outcomes: list[Outcome]) -> str:
    """The last line."""
    def share(wanted) -> str:
        return f"{100 * sum(map(wanted, outcomes)) / max(1, len(outcomes)):.1f} %"

    told = [o.lines for o in outcomes if o.lines]
    return (
        f"{len({o.mistake for o in outcomes})} mistakes, {len(outcomes)} alignments: "
        f"unit right {share(lambda o: o.named)}, line right {share(lambda o: o.lined)}, all right {share(right)}, "
        f"called a framework bug {sum(o.framework for o in outcomes)}, with strays {sum(bool(o.strays) for o in outcomes)}, "
        f"median {median(told or [0]):g} lines named, {sum(o.seconds for o in outcomes):.0f} s"
    )


if __name__ == "__main__":
    sys.exit(main())
