"""``minrepro sweep``."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from minrepro import backends
from minrepro.record import interruptible, write
from minrepro.sweep import report, shrinking
from minrepro.sweep.plan import FORWARD, Item, plan
from minrepro.sweep.sweep import Sweep

WIDTH = 150
"""Of the table: one column per verdict and symptom."""


@click.command()
@click.option("--candidate", required=True, help="Backend under test: paddle, paddle==3.0.0, oneflow, torch==2.12.0.")
@click.option("--reference", default="torch", show_default=True, help="Backend that is compared against.")
@click.option("--op", "names", multiple=True, help="An operator of the table; all if this is not given.")
@click.option("--dtype", "dtypes", multiple=True, help="Dtype of the leading tensors; all if this is not given.")
@click.option("--layout", "layouts", multiple=True, help="own, transposed, stepped or empty; all if this is not given.")
@click.option("--mode", "modes", default=FORWARD, show_default=True, help="forward, backward, or both with a comma.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder of the sweep.")
@click.option("--resume", type=click.Path(path_type=Path, file_okay=False, exists=True), help="Continue this folder.")
@click.option("--jobs", default=2, show_default=True, type=click.IntRange(1), help="Pairs of workers at a time.")
@click.option("--deadline", default=20.0, show_default=True, help="Seconds that one evaluation may take.")
@click.option("--shrink", "to_shrink", is_flag=True, help="Reduce every distinct divergence and write its script.")
@click.option("--verbose", is_flag=True, help="One line per operator instead of one per family.")
@click.option("--json", "as_json", is_flag=True, help="Print sweep.json and nothing else.")
def sweep(
    candidate, reference, names, dtypes, layouts, modes, out, resume, jobs, deadline, to_shrink, verbose, as_json
) -> None:
    """Run every operator in every dtype and layout on both sides; list what differs."""
    specs = str(backends.parse(reference)), str(backends.parse(candidate))
    modes = list(dict.fromkeys(mode.strip() for mode in modes.split(",")))
    items = list(plan(names, dtypes, layouts, modes))
    stamp = time.strftime(f"sweep-{backends.parse(candidate).name}-%Y%m%d-%H%M%S")
    folder = resume or out or Path("minrepro-runs") / stamp
    screen = Console(highlight=False, emoji=False, soft_wrap=True, quiet=as_json, width=WIDTH)
    one = Sweep(*specs, folder, jobs, deadline)
    began = time.monotonic()
    with interruptible(folder, lambda: f"{len(one.records)} of {len(items)} cases are done; continue with the same options "
                                       f"and --resume {folder}"):
        records = _watched(one, items)
    found = report.groups(records)
    about = {"reference": specs[0], "candidate": specs[1], "versions": one.versions,
             "seconds": time.monotonic() - began, "asked": one.asked}
    result = report.as_json(records, found, about)
    for mode in modes:
        screen.print(report.as_table(records, verbose, mode))
    legal = report.known(records)
    if legal:
        screen.print(f"\n{len(legal)} documented differences and settings", style="bold")
    for one in legal:
        screen.print(report.known_line(one), markup=False)
    screen.print(f"\n{len(found)} distinct divergences", style="bold")
    if to_shrink:
        with interruptible(folder, lambda: f"the sweep is done; reduce with the same options and --resume {folder}"):
            result["shrunk"] = _shrunk(shrinking.Many(found, specs, folder, jobs, deadline), screen)
    else:
        for group in found:
            screen.print(report.line(group), markup=False)
    write(folder / "sweep.json", result)
    screen.print(f"folder    {folder}")
    if as_json:
        click.echo(json.dumps(json.loads((folder / "sweep.json").read_bytes())))
    sys.exit(1 if found else 0)


def _bar() -> Progress:
    return Progress(
        TextColumn("{task.description:<10}"), BarColumn(30), MofNCompleteColumn(), TimeElapsedColumn(),
        TimeRemainingColumn(), TextColumn("{task.fields[what]}"), console=Console(stderr=True, emoji=False), transient=True,
    )


def _watched(one: Sweep, items: list[Item]) -> list[report.Record]:
    with _bar() as bar:
        task = bar.add_task("sweep", total=len(items), what="")
        return one.run(items, lambda done, op: bar.update(task, completed=done, what=op))


def _shrunk(many: shrinking.Many, screen: Console) -> list[dict[str, Any]]:
    """Reduce every group, showing each result as it comes."""
    rows = []
    with _bar() as bar:
        task = bar.add_task("shrink", total=len(many.groups), what="")
        for done, row in enumerate(many.run(), 1):
            bar.update(task, completed=done, what=row["op"])
            cause = f" ({row['cause']})" if row["cause"] else ""
            screen.print(f"{row['verdict']:<11} {row['op']}: {row['title'] or row['detail']}{cause}", markup=False)
            rows.append(row)
    return rows
