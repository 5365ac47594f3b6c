"""Verified bugs on disk: stored once each, read without trust, run again on any version.

An entry's folder name ends in a digest of signature and canonical case, so the same bug found twice is one entry.
"""

from __future__ import annotations

import ast
import datetime
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from minrepro import backends, replays
from minrepro.backends import Spec
from minrepro.corpus.entry import FORMAT, Entry, Meta, dump, load
from minrepro.emit.names import canonical
from minrepro.emit.scrub import scrub
from minrepro.environments import Environment
from minrepro.errors import BackendMissing, UsageError
from minrepro.ir import codec
from minrepro.ir.case import Case
from minrepro.ir.graph import Node
from minrepro.ir.reduction import Finding, Repro, Verified
from minrepro.shrink.sequential import enough
from minrepro.verify import rerun
from minrepro.verify.same import difference

__all__ = ["Entry", "Row", "add", "entries", "load", "replay", "store"]

T = TypeVar("T")
DOUBT = 1e-2
"""Chance of calling a bug fixed that only did not show."""


class Row(msgspec.Struct, frozen=True):
    """What became of an entry.

    Attributes:
        slug: the entry.
        framework: backend name.
        version: the version it ran on, or ``""``.
        expected: ``reproduced`` on the version that was stored and under a replay, ``any`` elsewhere.
        got: ``reproduced``, ``fixed`` or ``cannot run``.
        detail: why, where it cannot run.
    """

    slug: str
    framework: str
    version: str
    expected: str
    got: str
    detail: str = ""

    @property
    def surprising(self) -> bool:
        """True if this contradicts what was stored."""
        return self.expected == "reproduced" and self.got == "fixed"


def add(run_folder: Path, corpus_folder: Path) -> Path:
    """Store the bug of a finished run.

    Args:
        run_folder: holds what `codec.encode` wrote of a `Finding`, a `Repro` and a `Verified`, in any ``*.json``; the
            summary of the original under ``original`` in ``report.json``.
        corpus_folder: where entries are.

    Returns:
        The entry's folder; an older one if the same bug is there already.

    Raises:
        UsageError: if the run is not complete or its script was not verified.
    """
    report = run_folder / "report.json"
    original = json.loads(report.read_bytes()).get("original", {}) if report.is_file() else {}
    found = [_stored(run_folder, kind) for kind in (Finding, Repro, Verified)]
    return store(*found, original, corpus_folder)


def store(
    finding: Finding, repro: Repro, verified: Verified, original: Mapping[str, Any], corpus_folder: Path
) -> Path:
    """Store one bug; see `add`."""
    if not verified.ok:
        raise UsageError(
            f"expected a script that reproduced in every run, found {verified.reproduced} of {verified.runs} "
            f"(without its replay: {verified.without_replay}); only verified bugs are stored"
        )
    if finding.replay not in ("", *replays.names()):
        raise UsageError(f"the fault {finding.replay!r} is not a replay that comes with minrepro; it cannot be stored")
    if hashlib.sha256(repro.text.encode()).hexdigest() != repro.sha256:
        raise UsageError("repro.py was changed after it was verified; run `minrepro verify` on it again")
    case = _portable(finding.case)
    spec = backends.parse(case.reference if finding.side == "reference" else case.candidate)
    folder = corpus_folder / spec.name / _slug(finding, case, spec)
    if folder.is_dir():
        return folder
    meta = Meta(
        format=FORMAT, title=ast.get_docstring(ast.parse(repro.text)) or finding.signature.symptom,
        framework=spec.name, versions=dict(finding.environment), verdict="divergence", cause=finding.diagnosis.cause,
        created=datetime.date.today().isoformat(), script_sha256=repro.sha256, threads=case.threads,
        replay=finding.replay, signature=finding.signature, rate=_rate(finding, verified),
    )
    texts = {
        "case.json": codec.encode(case).decode() + "\n",
        "original.json": scrub(json.dumps(codec.plain(original), indent=1)) + "\n",
        "repro.py": repro.text,
        "entry.toml": dump(meta),
    }
    folder.mkdir(parents=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def entries(corpus_folder: Path) -> tuple[Entry, ...]:
    """Every entry of a corpus, in order of framework and slug.

    Raises:
        UsageError: for the first that cannot be read.
    """
    return tuple(load(path.parent) for path in sorted(corpus_folder.glob("*/*/entry.toml")))


def replay(stored: Iterable[Entry], resolve: Callable[[Spec], Environment], deadline: float = 120.0) -> tuple[Row, ...]:
    """Run entries again, each alone in a fresh process.

    Args:
        stored: which.
        resolve: gives the environment to run a framework in (`environments.resolve`).
        deadline: seconds per script.
    """
    return tuple(_replay(one, resolve, deadline) for one in stored)


def _replay(one: Entry, resolve: Callable[[Spec], Environment], deadline: float) -> Row:
    meta = one.meta
    backend = backends.table()[meta.framework]
    try:
        environment = resolve(Spec(meta.framework))
    except BackendMissing as error:
        return Row(one.slug, meta.framework, "", "any", "cannot run", str(error))
    known = meta.versions.get(backend.package) or meta.versions.get(backend.module, "")
    same = known.partition("+")[0] == environment.version.partition("+")[0]
    row = Row(one.slug, meta.framework, environment.version, "reproduced" if same or meta.replay else "any", "")
    under = replays.find(meta.replay).path if meta.replay else None
    # A bug that shows only now and then is gone when it does not show in so many runs.
    for _ in range(enough(meta.rate, DOUBT)):
        run = rerun(one.script, backend, environment.interpreter, meta.threads, under, deadline)
        if run.status != 0:
            break
    if run.status == 0:
        return msgspec.structs.replace(row, got="fixed")
    last = (run.errors.strip().splitlines() or ["no output"])[-1]
    why = difference(meta.signature, run.output) if run.status == 1 else last
    if why is None and under is not None:
        without = rerun(one.script, backend, environment.interpreter, meta.threads, None, deadline).status
        why = f"without its replay it ends with {without}, expected 0" if without else None
    if why is None:
        return msgspec.structs.replace(row, got="reproduced")
    return msgspec.structs.replace(row, got="cannot run", detail=f"exit {run.status}: {why}")


def _rate(finding: Finding, verified: Verified) -> float:
    """How often a script can be counted on to show its bug: in the search and in fresh processes."""
    seen = verified.reproduced / verified.runs
    return seen if finding.rate is None else min(seen, finding.rate.share)


def _stored(folder: Path, kind: type[T]) -> T:
    for path in sorted(folder.glob("*.json")):
        with path.open("rb") as file:
            if codec.kind_of(file.read(100)) != kind.__name__:
                continue
        return codec.decode(path.read_bytes(), kind)
    raise UsageError(f"expected a finished run in {folder}, found no stored {kind.__name__}; resume it first")


def _portable(case: Case) -> Case:
    """The case without interpreters and without the user's paths."""
    nodes = tuple(
        Node(node.op, node.args, node.outputs, node.path, scrub(node.source)) for node in case.graph.nodes
    )
    specs = [
        str(msgspec.structs.replace(backends.parse(text), interpreter="")) for text in (case.reference, case.candidate)
    ]
    graph = msgspec.structs.replace(case.graph, nodes=nodes)
    return msgspec.structs.replace(case, graph=graph, reference=specs[0], candidate=specs[1])


def _slug(finding: Finding, case: Case, spec: Spec) -> str:
    """Operators and symptom for people, and a digest of what makes it this bug."""
    renamed, _ = canonical(case, spec.backend)
    nodes = tuple(msgspec.structs.replace(node, path="", source="") for node in renamed.graph.nodes)
    graph = msgspec.structs.replace(renamed.graph, nodes=nodes)
    # The version it was found on is not part of the bug.
    bare = msgspec.structs.replace(renamed, graph=graph, reference="", candidate=spec.name, seed=0)
    digest = hashlib.sha256(codec.encode(finding.signature) + codec.encode(bare) + finding.replay.encode()).hexdigest()
    words = "-".join(dict.fromkeys(node.op.strip("_") for node in nodes)) + f"-{finding.divergence.symptom}"
    return re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:50] + "-" + digest[:8]
