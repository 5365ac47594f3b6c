"""What a run writes down: pieces of the report, one line for a person, files that are never half written."""

from __future__ import annotations

import contextlib
import math
import os
from pathlib import Path
from typing import Any, Callable, Iterator, Mapping

import msgspec

from minrepro.errors import Interrupted
from minrepro.ir import codec
from minrepro.ir.case import Case
from minrepro.ir.graph import Node
from minrepro.ir.reduction import Diagnosis, Rate
from minrepro.ir.signature import Signature
from minrepro.localise.streaming import Checked, Trace

WORDS = {
    "load": "state entries loaded", "backward": "steps differentiated", "second": "steps differentiated twice",
}
"""Mode of a pass -> what it does to the steps of a model."""


class Listener:
    """Told what happens; the command line shows it, tests and `--json` do not."""

    def stage(self, name: str) -> None:
        """A stage begins."""

    def say(self, line: str) -> None:
        """A result in one line."""

    def progress(self, done: int, total: int, what: str) -> None:
        """Work goes on; `total` is 0 if nobody knows how much there is."""


def describe_trace(trace: Trace) -> str:
    """A pass in one line."""
    what = WORDS.get(trace.mode, "steps on right inputs")
    bad, worst = trace.of("diverges"), trace.worst
    tail = f", worst ratio {worst.comparison.ratio:.3g} at {worst.op} {worst.path!r}" if worst is not None else ""
    more = ", ..." if len(bad) > 4 else ""
    named = ": " + ", ".join(item.path or item.op for item in bad[:4]) + more if bad else ""
    return f"{len(trace.checked)} {what}, {len(bad)} wrong{named}{tail}"


def counts(trace: Trace) -> dict[str, Any]:
    """A pass for the report."""
    worst = trace.worst
    verdicts = {item.comparison.verdict for item in trace.checked}
    return {
        "steps": len(trace.checked),
        "tensors": trace.tensors,
        "verdicts": {verdict: len(trace.of(verdict)) for verdict in sorted(verdicts)},
        "worst_ratio": worst.comparison.ratio if worst is not None else 0.0,
        "worst_at": f"{worst.op} {worst.path}" if worst is not None else "",
        "wrong": [item.path or item.op for item in trace.of("diverges")],
    }


def shape_of(case: Case) -> dict[str, Any]:
    """A case for the report."""
    feeds = [case.feeds[name] for name in case.graph.inputs]
    return {
        "nodes": [node.op for node in case.graph.nodes],
        "elements": case.elements,
        "shapes": [list(tensor.shape) for tensor in feeds],
        "dtypes": [tensor.dtype.name for tensor in feeds],
        "layouts": [str(tensor.layout) for tensor in feeds],
        "summary": case.summary(),
    }


def aside(folder: Path, number: int, signature: Signature, case: Case) -> dict[str, Any]:
    """Keep another bug that was met on the way, with the command that reduces it."""
    path = folder / f"slipped-{number}.json"
    write(path, case)
    command = f"minrepro shrink --case {path}"
    return {"signature": str(signature), "case": case.summary(), "path": str(path), "command": command}


def excused(node: Node, told: Diagnosis, listener: Listener) -> dict[str, Any]:
    """A divergence that is nobody's bug, for the listener and for the report."""
    where = f"{node.op} in {node.path or 'the root module'!r} {node.source}".strip()
    listener.say(f"{where}: {told.cause}: {told.sentence}")
    listener.say(f"change: {told.change} (source: {told.source})")
    return {"module": node.path, "op": node.op, "source": node.source, "diagnosis": codec.plain(told)}


def kind_of(told: Diagnosis) -> str:
    """The list of the report that it belongs to."""
    return "policies" if told.cause.startswith("policy") else "conventions"


def rates(start: Rate | None, final: Rate | None, calm: str) -> dict[str, Any]:
    """How often the start and the case at the end show the bug (None: in every run), and what took noise out."""
    return {"start": codec.plain(start), "final": codec.plain(final), "calm": calm}


def checked(item: Checked) -> dict[str, Any]:
    return {
        "node": item.node, "op": item.op, "module": item.path, "source": item.source,
        "verdict": item.comparison.verdict, "ratio": codec.plain(item.comparison.ratio), "why": item.comparison.why,
    }


def readable(value: Any) -> Any:
    """A report for strangers' JSON readers: what JSON has no number for becomes a word (``"inf"``)."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        if list(value) == ["$float"]:
            return value["$float"]
        return {key: readable(item) for key, item in value.items()}
    return [readable(item) for item in value] if isinstance(value, (list, tuple)) else value


@contextlib.contextmanager
def interruptible(folder: Path, more: Callable[[], str] = lambda: "") -> Iterator[None]:
    """Inside, Ctrl-C ends the command with one line about what the run folder holds.

    Args:
        folder: of the run.
        more: how to go on from there, ``""`` if there is no way.
    """
    try:
        yield
    except KeyboardInterrupt:
        names = sorted(path.name for path in folder.glob("*") if path.suffix not in (".log", ".tmp"))
        shown = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
        kept = f"{shown} kept in {folder}" if names else f"nothing but logs is kept yet in {folder}"
        raise Interrupted("; ".join(filter(None, ("interrupted", kept, more())))) from None


def write(path: Path, record: Any) -> None:
    """Write a JSON file so that it is either the old one or the new one, never half of it; structs can be read back."""
    text = codec.encode(record) if isinstance(record, msgspec.Struct) else msgspec.json.encode(codec.plain(record))
    fresh = path.with_suffix(".tmp")
    fresh.write_bytes(msgspec.json.format(text, indent=2) + b"\n")
    os.replace(fresh, path)

