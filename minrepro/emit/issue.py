"""The issue text for a framework's tracker: its own headings, everything that maintainers ask for, nothing private."""

from __future__ import annotations

import platform
import string

from minrepro import replays
from minrepro.emit.judge import READABLE
from minrepro.emit.literal import numbers
from minrepro.emit.parts import Parts
from minrepro.emit.scrub import scrub
from minrepro.emit.shipped import folder
from minrepro.emit.title import apis, title
from minrepro.errors import InternalError
from minrepro.ir.outcome import Completed, Crashed, Raised, TimedOut
from minrepro.ir.reduction import Finding

BANNER = """\
> **REPLAY of a historical bug, do not file.**
> This was produced with the replay `{name}` ({history}) on top of {title}.
> {title} itself does not have this bug: without the replay the script below exits with status 0.

"""


def text(parts: Parts, script: str) -> str:
    """The whole issue text.

    Args:
        parts: what was printed.
        script: the script, shown inline.
    """
    path = folder("templates") / f"{parts.backend.tracker}.md"
    if not path.is_file():
        raise InternalError(f"expected the issue template {path.name} for {parts.backend.title}; add it to templates/")
    finding = parts.finding
    holes = {
        "title": f"REPLAY of a historical bug, do not file: {title(parts)}" if finding.replay else title(parts),
        "banner": _banner(parts),
        "summary": _summary(parts),
        "observed": _observed(parts),
        "expected": _expected(parts),
        "why": f"Reason: {parts.why}.",
        "evidence": _evidence(finding),
        "environment": _environment(parts),
    }
    clean = {key: scrub(value) for key, value in holes.items()}
    return string.Template(path.read_text(encoding="utf-8")).substitute(clean, script=script)


def _banner(parts: Parts) -> str:
    if not parts.finding.replay:
        return ""
    replay = replays.find(parts.finding.replay)
    return BANNER.format(name=replay.name, history=replay.history, title=parts.backend.title)


def _summary(parts: Parts) -> str:
    divergence, case = parts.finding.divergence, parts.case
    feeds = ", ".join(f"`{name}` = {case.feeds[name].spec}" for name in case.graph.inputs) or "no input"
    words = [f"{title(parts).partition(': ')[2]}. Smallest input found: {feeds}."]
    if divergence.total and divergence.wrong:
        wrong = f"{divergence.wrong} of {divergence.total} elements"
        words.append(f"{wrong} of the result of {' then '.join(apis(parts))} are wrong.")
    if divergence.detail:
        words.append(divergence.detail.rstrip(".") + ".")
    if parts.finding.rate is not None:
        words.append(f"It reproduces {parts.finding.rate}, so a run that ends with 0 says nothing by itself.")
    words.append("The script exits with status 1 where the bug is there, 0 where it is gone, 125 where it cannot tell.")
    return " ".join(words)


def _observed(parts: Parts) -> str:
    outcome, divergence = parts.finding.outcome, parts.finding.divergence
    if isinstance(outcome, Raised):
        return f"{outcome.kind}: {outcome.message}".strip()
    if isinstance(outcome, Crashed):
        return f"the process ends: {outcome.signal}\n{outcome.log}".strip()
    if isinstance(outcome, TimedOut):
        return f"no answer within {outcome.seconds:g} s"
    if isinstance(outcome, Completed) and divergence.symptom in ("value", "nonfinite") and not divergence.law:
        tensor = outcome.values.get(parts.output)
        if tensor is not None and tensor.size <= READABLE:
            return f"{tensor.dtype.name} {numbers(tensor.view, tensor.dtype)}"
    wrong = divergence.reference if parts.finding.side == "reference" else divergence.candidate
    return f"{wrong} at {list(divergence.index)}" if divergence.index else wrong


def _expected(parts: Parts) -> str:
    divergence, tensor = parts.finding.divergence, parts.expected
    if divergence.symptom == "accepted" or tensor is None:
        return "an exception" if divergence.symptom == "accepted" else "a result"
    if divergence.law:
        return f"{divergence.law} is 0 but for rounding ({divergence.truth})"
    if divergence.symptom == "shape":
        return f"the shape {list(tensor.shape)}"
    if divergence.symptom == "dtype":
        return f"the dtype {tensor.dtype.name}"
    if tensor.size <= READABLE:
        return f"`{tensor.dtype.name} {numbers(tensor.view, tensor.dtype)}`"
    due = divergence.truth or (divergence.candidate if parts.finding.side == "reference" else divergence.reference)
    return f"`{due}` at {list(divergence.index)}"


def _evidence(finding: Finding) -> str:
    diagnosis = finding.diagnosis
    lines = [f"**Diagnosis**: {diagnosis.sentence.rstrip('.')}.", ""] if diagnosis.sentence else []
    if diagnosis.probes:
        lines += ["| experiment | predicted | observed | |", "|---|---|---|---|"]
        for probe in diagnosis.probes:
            cells = (probe.experiment, probe.predicted, probe.observed, "confirmed" if probe.confirmed else "refuted")
            lines.append(f"| {' | '.join(cells)} |")
        lines.append("")
    if diagnosis.ruled_out:
        lines += [f"Ruled out: {', '.join(diagnosis.ruled_out)}.", ""]
    if finding.site:
        where = ", ".join(filter(None, [finding.model, finding.site]))
        lines += [f"Found in {where}, and reduced from there.", ""]
    return "\n".join(lines)


def _environment(parts: Parts) -> str:
    versions = dict(parts.finding.environment)
    lines = [f"- {name}: {version}" for name, version in versions.items()]
    system = " ".join(filter(None, [platform.system(), platform.machine(), *platform.libc_ver()]))
    lines += [f"- OS: {system}", f"- threads: {parts.case.threads}"]
    return "\n".join(lines)
