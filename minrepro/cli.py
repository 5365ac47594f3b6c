"""The command line: ``minrepro shrink``, ``sweep``, ``env``, ``doctor``, ``list``, ``corpus``.

Results go to standard output, progress to standard error; with ``--json`` the report is all there is on standard
output. Exit status: 0 nothing found, or only what is documented or a precision setting explains; 1 a divergence with a
verified script; 2 usage; 3 our bug; 4 a backend is missing; 130 interrupted.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from minrepro import __version__, backends, environments, ops, pipeline, replays, zoo
from minrepro import corpus as stored
from minrepro import shrink as reducer
from minrepro.align.command import align, case_of_port, prepare
from minrepro.emit.shipped import folder as shipped
from minrepro.environments.doctor import doctor as examine
from minrepro.errors import MinreproError
from minrepro.ir import codec
from minrepro.ir.case import MODES
from minrepro.options import OPTIONS, Options, replay_notice, resolve_candidate, stored_options
from minrepro.record import interruptible
from minrepro.sweep.command import sweep

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


class Screen(pipeline.Listener):
    """Shows a run: one line per stage and result, and a progress line while a stage works."""

    def __init__(self, quiet: bool):
        self.out = Console(highlight=False, emoji=False, soft_wrap=True, quiet=quiet)
        self.bar = Progress(
            SpinnerColumn(), TextColumn("{task.fields[stage]:<9}"), BarColumn(20), TextColumn("{task.fields[what]}"),
            TimeElapsedColumn(), console=Console(stderr=True, emoji=False), transient=True, refresh_per_second=8,
        )
        self.task = self.bar.add_task("", total=None, stage="start", what="")
        self.current = ""

    def stage(self, name: str) -> None:
        self.current = name
        self.bar.reset(self.task, total=None, stage=name, what="")

    def say(self, line: str) -> None:
        self.out.print(f"[bold]{self.current:<9}[/bold] ", line, sep="", markup=True)

    def progress(self, done: int, total: int, what: str) -> None:
        text = f"{done}/{total} {what}" if total else f"{done} queries, best {what}"
        self.bar.update(self.task, completed=done, total=total or None, what=text[:90])


@click.group(context_settings=CONTEXT)
@click.version_option(__version__, prog_name="minrepro")
def cli() -> None:
    """Turn a disagreement between two deep-learning frameworks into a minimal, verified repro script."""


@cli.command()
@click.option("--model", default="", help="A zoo name, file.py:callable or package.module:callable.")
@click.option("--candidate", default="", help="Backend under test: paddle, paddle==3.0.0, oneflow, torch+replay:NAME.")
@click.option("--reference", default="torch", show_default=True, help="Backend that is compared against.")
@click.option("--input", "inputs", multiple=True, help="Input spec: x=float32[2,3,32,32], x=@file.npz:key, file.npz.")
@click.option("--mode", "modes", default="load,forward", show_default=True,
              help="Comma-separated: load, forward, backward, second (the gradients of the gradients).")
@click.option("--seed", default=0, show_default=True, help="Seed of the model, its inputs and the search.")
@click.option("--capture", "rung", default="auto", show_default=True, help="auto, log, export, make_fx or dispatch.")
@click.option("--train", is_flag=True, help="Leave the model in training mode.")
@click.option("--threads", default=1, show_default=True, help="Threads of a worker; part of a bug's recipe.")
@click.option("--deadline", default=60.0, show_default=True, help="Seconds that one evaluation may take.")
@click.option("--budget", default="", help="Queries (200) or seconds (90s) the reduction may take.")
@click.option("--case", "stored_case", type=click.Path(path_type=Path, dir_okay=False, exists=True),
              help="Reduce a stored case instead of a model: another bug that a run met, or one of the corpus.")
@click.option("--port", default="", help="A native port of the model (zoo, file.py:callable): align first, see minrepro align.")
@click.option("--convert", default="", help="With --port: converter of the weights, file.py:callable.")
@click.option("--map", "mapped", multiple=True,
              help="With --port: names on both sides, 'encoder.layer.*=encoder.layers.*'; a * is exactly one part of a path.")
@click.option("--site", default=0, show_default=True, help="Which finding to reduce, if there are several.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Run folder.")
@click.option("--resume", type=click.Path(path_type=Path, file_okay=False, exists=True),
              help="Continue a run folder with the options it was started with; only --budget counts anew.")
@click.option("--json", "as_json", is_flag=True, help="Print report.json and nothing else.")
def shrink(model, candidate, reference, inputs, modes, seed, rung, train, threads, deadline, budget, stored_case, port,
           convert, mapped, site, out, resume, as_json) -> None:
    """Find the step that is wrong, shrink it, and write a script that shows it."""
    queries, seconds = _budget(budget)
    name = _slug(model) or "case"
    folder = resume or out or Path("minrepro-runs") / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}"
    screen = Screen(as_json)
    case = codec.decode(stored_case.read_bytes()) if stored_case and not resume else None
    if port and case is None and not resume:
        request = prepare(model, port, candidate, inputs, convert, mapped, seed, train)
        with interruptible(folder / "align"):
            case = case_of_port(reference, candidate, folder / "align", request, as_json)
    if case is not None:
        case = msgspec.structs.replace(case, candidate=str(backends.parse(candidate or case.candidate)))
        options = Options(
            "", case.candidate, case.reference, seed=case.seed, threads=case.threads, deadline_s=deadline,
            max_queries=queries, max_seconds=seconds,
        )
    elif resume:
        options = msgspec.structs.replace(stored_options(resume), max_queries=queries, max_seconds=seconds)
    elif not model:
        raise click.UsageError(f"expected --model with a zoo name ({', '.join(zoo.names())}), file.py:callable or "
                               "package.module:callable")
    else:
        options = Options(
            model, resolve_candidate(model, candidate), reference, tuple(inputs), _modes(modes), seed, rung,
            train, threads, deadline, queries, seconds, 3, site,
        )
    notice = replay_notice(options.candidate)
    what = options.model or "a stored case"
    screen.out.print(notice or f"{what}: {options.reference} against {options.candidate}", style="bold")
    with interruptible(folder, lambda: _going_on(folder)), screen.bar:
        run = pipeline.Run(options, folder, screen)
        if case is not None:
            run.start_at(case)
        report = run.execute()
    if as_json:
        click.echo(json.dumps(report, allow_nan=False))
    else:
        _closing(screen.out, report, folder)
    sys.exit(pipeline.EXIT[report["verdict"]])


def _going_on(folder: Path) -> str:
    """How to continue a run that was interrupted."""
    best = "best.json is the best case so far; " if (folder / "best.json").exists() else ""
    return f"{best}continue with: minrepro shrink --resume {folder}" if (folder / OPTIONS).exists() else ""


def _closing(out: Console, report: dict[str, Any], folder: Path) -> None:
    """The last lines: verdict, minimal case, script, how often it reproduced."""
    out.print()
    if report["verdict"] in ("clean", "arithmetic"):
        for mode, seen in report["compared"].items():
            out.print(
                f"{mode}: {seen['steps']} steps and {seen['tensors']} tensors compared, "
                f"worst ratio {float(seen['worst_ratio']):.3g} at {seen['worst_at'] or 'none'}"
            )
        out.print(f"verdict   {report['verdict']}: no divergence", style="bold")
    elif report["verdict"] == "unsupported":
        out.print("verdict   unsupported: some steps could not be compared, nothing else diverges", style="bold")
    elif report["verdict"] in ("convention", "policy"):
        why = {"convention": "every difference is documented", "policy": "a precision setting makes the difference"}
        out.print(f"verdict   {report['verdict']}: {why[report['verdict']]}, nothing else diverges", style="bold")
        for known in [*report.get("policies", ()), *report.get("conventions", ())]:
            out.print(f"change    {known['op']} in {known['module'] or 'root'}: {known['diagnosis']['change']}")
    else:
        verified = report["verified"]
        out.print(f"verdict   {report['verdict']}: {report['diagnosis']['sentence']}", style="bold")
        out.print(f"case      {report['final']['summary']}")
        if report["rate"]["final"] is not None:
            rate = report["rate"]["final"]
            out.print(f"rate      {rate['matches']} of {rate['runs']} runs show it")
        out.print(f"script    {report['repro']['path']} ({report['repro']['lines']} lines)")
        for other in report["slipped"]:
            out.print(f"also met  {other['signature']}: {other['command']}")
        out.print(f"runs      {verified['reproduced']} of {verified['runs']} fresh processes show it")
    out.print(f"folder    {folder}")


def _modes(text: str) -> tuple[str, ...]:
    modes = tuple(part.strip() for part in text.split(",") if part.strip())
    wrong = [mode for mode in modes if mode not in MODES]
    if wrong or not modes:
        raise click.UsageError(f"expected modes out of {', '.join(MODES)}; found {wrong[0] if wrong else text!r}")
    return modes


def _budget(text: str) -> tuple[int | None, float | None]:
    if not text:
        return None, None
    try:
        return (None, float(text[:-1])) if text.endswith("s") else (int(text), None)
    except ValueError:
        raise click.UsageError(f"expected --budget 200 (queries) or 90s (seconds), found {text!r}") from None


def _slug(model: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in model).strip("-")[-40:]


cli.add_command(sweep)
cli.add_command(align)


@cli.group()
def env() -> None:
    """Interpreters with a framework in them."""


@env.command("create")
@click.argument("spec")
def env_create(spec: str) -> None:
    """Make the environment of a backend, for example: paddle, paddle==3.0.0, oneflow."""
    made = environments.create(backends.parse(spec), say=lambda line: click.echo(line, err=True))
    click.echo(f"{made.name}  {made.interpreter}")


@env.command("list")
@click.option("--json", "as_json", is_flag=True)
def env_list(as_json: bool) -> None:
    """The environments in the cache."""
    found = environments.listing()
    if as_json:
        click.echo(msgspec.json.encode(found).decode())
        return
    for item in found:
        click.echo(f"{item.name:<28} {item.bytes / 1e6:8.0f} MB  {item.interpreter}")
    if not found:
        click.echo(f"none in {environments.cache_folder()}; make one with: minrepro env create paddle")


@env.command("remove")
@click.argument("name")
def env_remove(name: str) -> None:
    """Delete one environment of the cache."""
    environments.remove(name)


@cli.command()
@click.option("--json", "as_json", is_flag=True)
def doctor(as_json: bool) -> None:
    """What is there, what is missing, and the one command that adds it."""
    rows = examine()
    if as_json:
        click.echo(msgspec.json.encode(rows).decode())
        return
    for row in rows:
        size = f"{row.bytes / 1e6:.0f} MB" if row.bytes else ""
        seconds = f"import {row.import_seconds:.1f} s" if row.import_seconds else ""
        state = "ok" if row.ok else "missing"
        where = row.found if row.ok or not row.command else f"{row.command} adds it"
        click.echo(f"{row.subject:<9} {state:<8} {row.version.split()[0] if row.version else '':<12} {size:>8} "
                   f"{seconds:<13} {where}")


@cli.command("list")
@click.argument("what", type=click.Choice(["ops", "backends", "passes", "replays", "models", "ports"]))
@click.option("--json", "as_json", is_flag=True)
def listing(what: str, as_json: bool) -> None:
    """What minrepro knows: operators by backend, backends, passes, replays, models, their native ports."""
    rows = LISTS[what]()
    if as_json:
        click.echo(json.dumps(_described(rows) if what == "ops" else rows))
        return
    if what == "ops":
        _matrix(rows)
        return
    for name, text in rows.items():
        click.echo(f"{name:<26} {text}")


def _described(rows: dict[str, list[str]]) -> dict[str, dict[str, Any]]:
    """Operators for machines: backends, class of the verdict, number of samples and remark."""
    return {
        name: {"backends": given, "kind": row.kind, "samples": len(row.samples), "why": row.why}
        for name, given in rows.items()
        for row in [ops.table()[name]]
    }


def _matrix(rows: dict[str, list[str]]) -> None:
    names = list(backends.table())
    out = Table(box=None, pad_edge=False)
    out.add_column("operator")
    for name in names:
        out.add_column(name, justify="center")
    for name, given in rows.items():
        out.add_row(name, *("x" if backend in given else "" for backend in names))
    out.add_section()
    out.add_row(f"{len(rows)} operators", *(str(sum(b in given for given in rows.values())) for b in names))
    Console(width=100, highlight=False, emoji=False).print(out)


LISTS = {
    "ops": lambda: {name: list(given) for name, given in sorted(backends.coverage().items())},
    "backends": lambda: {name: f"{b.title}, package {b.package}" for name, b in backends.table().items()},
    "passes": lambda: {
        reducer.name(module): (module.__doc__ or "").splitlines()[0] for module in reducer.ordered()
    },
    "replays": lambda: {name: replays.find(name).title for name in replays.names()},
    "models": lambda: {name: path for name, (path, _) in zoo.names().items()},
    "ports": lambda: {
        f"{name} on {framework}": path
        for framework in backends.table() for name, (path, _) in zoo.ports(framework).items()
    },
}


@cli.group()
def corpus() -> None:
    """Minimised cases that guard a framework from now on."""


@corpus.command("add")
@click.argument("run", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--into", type=click.Path(path_type=Path, file_okay=False), default=Path("corpus"), show_default=True)
def corpus_add(run: Path, into: Path) -> None:
    """Store the verified case of a run folder."""
    click.echo(str(stored.add(run, into)))


@corpus.command("replay")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False), required=False)
@click.option("--candidate", default="", help="Run the cases of this framework on that spec, e.g. paddle==3.0.0.")
@click.option("--json", "as_json", is_flag=True)
def corpus_replay(folder: Path | None, candidate: str, as_json: bool) -> None:
    """Run every stored script that the environments allow; exit status 1 if one contradicts what was stored."""
    wanted = backends.parse(candidate) if candidate else None

    def resolve(spec: backends.Spec) -> environments.Environment:
        return environments.resolve(wanted if wanted is not None and wanted.name == spec.name else spec)

    found = stored.entries(folder or shipped("corpus"))
    rows = stored.replay([e for e in found if wanted is None or e.meta.framework == wanted.name], resolve)
    if as_json:
        click.echo(msgspec.json.encode(rows).decode())
    else:
        for row in rows:
            click.echo(f"{row.got:<11} {row.framework:<8} {row.version:<8} {row.slug}  {row.detail}".rstrip())
        click.echo(f"{len(rows)} cases, {sum(row.got == 'reproduced' for row in rows)} reproduced")
    sys.exit(1 if any(row.surprising for row in rows) else 0)


def main() -> None:
    """Entry point: turns our errors into a message and an exit status."""
    try:
        cli(standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):
        click.echo("minrepro: interrupted", err=True)
        sys.exit(130)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except MinreproError as error:
        click.echo(f"minrepro: {error}", err=True)
        sys.exit(error.exit_status)
    except BrokenPipeError:
        sys.exit(0)
    except OSError as error:
        click.echo(f"minrepro: {error}. The run folder keeps what was found so far.", err=True)
        sys.exit(2)
    except Exception:
        traceback.print_exc()
        click.echo("minrepro: this is our bug. The lines above and the run folder help to mend it.", err=True)
        sys.exit(3)
