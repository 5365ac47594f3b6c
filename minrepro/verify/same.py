"""Whether what a script printed is the divergence that it was written for, and not another one."""

from __future__ import annotations

import re

from minrepro.ir.outcome import Completed, Crashed, Raised, TimedOut
from minrepro.ir.reduction import Finding
from minrepro.ir.signature import normalise

_LINES = re.compile(r"^expected: (?P<expected>.*?)\n(?:.*\n)*?actual: +(?P<actual>.*)", re.MULTILINE | re.DOTALL)


def difference(finding: Finding, printed: str) -> str | None:
    """Say why the printed divergence is not the finding's, or None if it is.

    Args:
        finding: what the script is about.
        printed: its standard output.
    """
    match = _LINES.search(printed)
    if match is None:
        return "expected the lines 'expected: ...' and 'actual: ...', found neither"
    expected, actual = match["expected"].strip(), match["actual"].strip()
    outcome, symptom = finding.outcome, finding.divergence.symptom
    if isinstance(outcome, Raised):
        return _other_exception(finding, outcome, actual)
    if isinstance(outcome, (Crashed, TimedOut)):
        due = outcome.signal if isinstance(outcome, Crashed) else "SIGALRM"
        return None if actual == due else f"expected the process to end with {due}, found {actual}"
    if symptom == "accepted":
        return None
    if actual == expected:
        return f"expected and actual are both {actual[:80]}"
    if symptom in ("shape", "dtype"):
        due = _structure(finding, symptom)
        return None if due in ("", actual) else f"expected the {symptom} {due}, found {actual}"
    found = "nonfinite" if _nonfinite(actual) != _nonfinite(expected) else "value"
    return None if found == symptom else f"expected the symptom {symptom}, found {found}: {actual[:80]}"


def _other_exception(finding: Finding, outcome: Raised, actual: str) -> str | None:
    kind, _, message = actual.partition(":")
    if kind != outcome.kind:
        return f"expected {outcome.kind}, found {kind[:80]}"
    due = finding.signature.message
    found = normalise(message)
    # The signature may hold a part of the message only.
    return None if due in found or found in due else f"expected the message {due[:80]!r}, found {found[:80]!r}"


def _structure(finding: Finding, symptom: str) -> str:
    outcome = finding.outcome
    if not isinstance(outcome, Completed) or finding.divergence.output not in outcome.values:
        return ""
    tensor = outcome.values[finding.divergence.output]
    return str(list(tensor.shape)) if symptom == "shape" else tensor.dtype.name


def _nonfinite(text: str) -> list[str]:
    return re.findall(r"-?\binf\b|\bnan\b", text)
