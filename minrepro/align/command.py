"""``minrepro align``."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from minrepro import backends, zoo
from minrepro.align import Aligned, Request, open_alignment, shown, table
from minrepro.align.language import LANGUAGES, Words
from minrepro.align.training import OPTIMISERS
from minrepro.align.verdict import EXIT, verdict
from minrepro.capture.inputs import parse
from minrepro.capture.source import resolve
from minrepro.errors import UsageError
from minrepro.ir.case import Case
from minrepro.options import replay_notice
from minrepro.record import interruptible, readable, write

WIDTH = 160


@click.command()
@click.option("--model", required=True, help="The reference: a zoo name, file.py:callable or package.module:callable.")
@click.option("--port", required=True, help="The port: zoo, file.py:callable or package.module:callable.")
@click.option("--candidate", required=True, help="Backend of the port: paddle, paddle==3.0.0, oneflow, oneflow+replay:NAME.")
@click.option("--reference", default="torch", show_default=True, help="Backend of the reference.")
@click.option("--inputs", "--input", "inputs", multiple=True, help="Inputs: inputs.npz, x=@file.npz:key, x=float32[2,3].")
@click.option("--convert", default="", help="Converter of the weights, file.py:callable: {key: array} -> {key: array}.")
@click.option("--map", "mapped", multiple=True,
              help="Names on both sides: 'encoder.layer.*=encoder.layers.*'. A * stands for exactly one part of a path; what "
                   "follows the pattern stays as it is.")
@click.option("--seed", default=0, show_default=True, help="Seed of the model and its inputs.")
@click.option("--train", is_flag=True, help="Training mode on both sides.")
@click.option("--precision", type=click.Choice(["own", "float32"]), default="own", show_default=True,
              help="float32 switches autocast contexts off in both models.")
@click.option("--draws", type=click.Choice(["injected", "own"]), default="injected", show_default=True,
              help="injected gives the reference's random draws to the port.")
@click.option("--backward", is_flag=True, help="Compare the gradients of every module, and of the whole, too.")
@click.option("--train-steps", "steps", default=0, show_default=True, help="Training steps to compare after that.")
@click.option("--optimizer", "optimiser", type=click.Choice(OPTIMISERS), default="adamw", show_default=True,
              help="Takes the training steps.")
@click.option("--order", type=click.Choice(["call", "worst"]), default="call", show_default=True, help="Order of the rows.")
@click.option("--lang", type=click.Choice(list(LANGUAGES)), default="en", show_default=True,
              help="Language of the table and of what stands around it.")
@click.option("--deadline", default=300.0, show_default=True,
              help="Seconds that one answer of a worker may take. A port that takes longer is a finding (status 1), and is run "
                   "once more, traced; a reference or converter that does is bad input (status 2).")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Run folder.")
@click.option("--json", "as_json", is_flag=True, help="Print align.json and nothing else.")
def align(model, port, candidate, reference, inputs, convert, mapped, seed, train, precision, draws, backward, steps, optimiser,
          order, lang, deadline, out, as_json) -> None:
    """Compare a model with its native port, module by module, and say whose fault a difference is."""
    request = prepare(model, port, candidate, inputs, convert, mapped, seed, train, precision, draws, deadline)
    request = msgspec.structs.replace(request, backward=backward or steps > 0, steps=steps, optimiser=optimiser)
    folder = out or Path("minrepro-runs") / time.strftime("align-%Y%m%d-%H%M%S")
    screen = wide(as_json)
    notice = replay_notice(candidate)
    words = Words(lang)
    title = words("against", model=model, reference=reference, candidate=candidate)
    screen.print(notice or title, style="bold", markup=False)
    with interruptible(folder):
        found, result = aligned(reference, candidate, folder, request, words)
    _show(screen, found, result, words, order == "worst", folder)
    if as_json:
        click.echo(json.dumps(result, allow_nan=False))
    sys.exit(EXIT[result["verdict"]])


def wide(quiet: bool) -> Console:
    """Where the table goes: as wide as the terminal, or as it needs where there is none."""
    width = None if sys.stdout.isatty() else WIDTH
    return Console(highlight=False, emoji=False, soft_wrap=True, quiet=quiet, width=width)


def prepare(model, port, candidate, inputs=(), convert="", mapped=(), seed=0, train=False, precision="own",
            draws="injected", deadline=300.0) -> Request:
    """A request from what stands on the command line.

    Raises:
        UsageError: for a model, port, converter or input that is not there.
    """
    parse(inputs)
    return Request(
        model=resolve(model), port=_port(model, port, candidate), names=(model, port),
        convert=_convert(model, port, convert, candidate), mapped=(*mapped, *_zoo_map(model, port, candidate)),
        inputs=tuple(inputs), seed=seed, train=train, neutral=precision == "float32", injected=draws == "injected",
        deadline_s=deadline,
    )


def aligned(reference: str, candidate: str, folder: Path, request: Request, words: Words) -> tuple[Aligned, dict[str, Any]]:
    """Align, and write ``align.json`` and ``align.md`` into the run folder."""
    found, about = _watched(str(backends.parse(reference)), str(backends.parse(candidate)), folder, request, words)
    result = readable(table.report(found, about))
    write(folder / "align.json", result)
    table.write(folder, found, result, words)
    for number, case in enumerate(found.cases.values()):
        write(folder / (f"case-{number}.json" if number else "case.json"), case)
    return found, result


def case_of_port(
    reference: str, candidate: str, folder: Path, request: Request, as_json: bool = False
) -> Case:
    """For ``minrepro shrink --port``: align, say what was found, and return the framework's fault as a case to reduce.

    Where there is none the command ends here: the table has said whose fault it is.
    """
    screen = wide(as_json)
    words = Words("en")
    model, port = request.names
    title = words("against_port", model=model, reference=reference, port=port, candidate=candidate)
    screen.print(title, style="bold", markup=False)
    request = msgspec.structs.replace(request, scripts=True)
    found, result = aligned(reference, candidate, folder, request, words)
    guilty = [row for row in found.rows if row.verdict not in ("same", "arithmetic", "idle")]
    _show(screen, msgspec.structs.replace(found, rows=guilty), result, words, False, folder)
    if not found.cases:
        if as_json:
            click.echo(json.dumps(result, allow_nan=False))
        sys.exit(EXIT[result["verdict"]])
    return next(iter(found.cases.values()))


def _watched(
    reference: str, candidate: str, folder: Path, request: Request, words: Words
) -> tuple[Aligned, dict[str, Any]]:
    """Run with a progress line; returns what was found and what the report says about the run."""
    bar = Progress(SpinnerColumn(), TextColumn("align"), BarColumn(20), TextColumn("{task.fields[what]}"),
                   TimeElapsedColumn(), console=Console(stderr=True, emoji=False), transient=True)
    task = bar.add_task("", total=None, what=words("starting"))
    began = time.monotonic()

    def progress(done: int, total: int, what: str) -> None:
        bar.update(task, completed=done, total=total or None, what=f"{done}/{total} {what}"[:80])

    with bar:
        one = open_alignment(reference, candidate, folder, request, progress)
        one.candidate.role = "port"
        try:
            found = one.run()
            sides = {"reference": one.pair.reference, "candidate": one.pair.candidate}
            versions = {name: dict(side.versions()) for name, side in sides.items()}
            imports = {name: side.worker.import_seconds for name, side in sides.items()}
            for side in sides.values():
                side.worker.close()
            peaks = {name: side.worker.peak_bytes for name, side in sides.items()}
        finally:
            one.pair.stop()
    about = {
        "verdict": verdict(found), "model": request.names[0], "port": request.names[1], "reference": reference,
        "candidate": candidate, "versions": versions, "standard": table.STANDARD, "peak_bytes": peaks,
        "seconds": {**found.seconds, "imports": imports, "total": time.monotonic() - began},
    }
    return found, about


def _show(screen: Console, found: Aligned, result: dict[str, Any], words: Words, worst_first: bool, folder: Path) -> None:
    rows = table.ordered(found.rows, worst_first)
    screen.print(table.screen(rows, words))
    for line in shown.below(rows, found, words, folder):
        screen.print(line, markup=False)
    verdict, *rest = shown.closing(result, words, folder)
    screen.print(verdict, style="bold", markup=False)
    for line in rest:
        screen.print(line, markup=False)


def _port(model: str, port: str, candidate: str) -> dict[str, Any]:
    """Where the port is; ``zoo`` is the one that comes with the zoo model."""
    return zoo_port(model, candidate) if port == "zoo" else resolve(port, "port")


def zoo_port(model: str, candidate: str) -> dict[str, Any]:
    """The zoo's own port of one of its models.

    Raises:
        UsageError: if there is none for this framework.
    """
    framework = backends.parse(candidate).name
    known = zoo.ports(framework) if framework != "torch" else zoo.names()
    if model not in known:
        raise UsageError(f"the zoo has no port of {model!r} to {framework}; it has {', '.join(known) or 'none'}; "
                         "give --port file.py:callable")
    file, function = known[model]
    return {"file": file, "callable": function, "paths": [str(Path(file).parent)]}


def _convert(model: str, port: str, convert: str, candidate: str) -> dict[str, Any] | None:
    if convert:
        return resolve(convert, "converter")
    own = port == "zoo" and backends.parse(candidate).name != "torch"
    return {**zoo_port(model, candidate), "callable": "convert"} if own else None


def _zoo_map(model: str, port: str, candidate: str) -> tuple[str, ...]:
    if port != "zoo":
        return ()
    return tuple(f"{left}={right}" for left, right in zoo.port_map(zoo_port(model, candidate)["file"]).items())
