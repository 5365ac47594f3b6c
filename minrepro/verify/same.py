"""Whether what a script printed is the divergence that it was written for, and not another one."""

from __future__ import annotations

import re

from minrepro.ir.signature import Signature, normalise

_LINES = re.compile(r"^expected: (?P<expected>.*?)\n(?:.*\n)*?actual: +(?P<actual>.*)", re.MULTILINE | re.DOTALL)


def difference(signature: Signature, printed: str, due: str = "") -> str | None:
    """Say why the printed divergence has not this signature, or None if it has.

    Args:
        signature: the identity of the bug.
        printed: the script's standard output.
        due: exactly what has to stand after ``actual:``, if that is known.
    """
    match = _LINES.search(printed) or _LINES.search(_behind_chatter(printed))
    if match is None:
        return "expected the lines 'expected: ...' and 'actual: ...', found neither"
    expected, actual = match["expected"].strip(), match["actual"].strip()
    symptom = signature.symptom
    if symptom == "exception" or symptom == "structure" and signature.kind:
        return _other_exception(signature, actual)
    if symptom in ("crash", "hang"):
        wanted = "SIGALRM" if symptom == "hang" else signature.kind
        return None if actual == wanted else f"expected the process to end with {wanted}, found {actual}"
    if symptom == "accepted":
        return None
    if actual == expected:
        return f"expected and actual are both {actual[:80]}"
    if symptom == "structure":
        return None if "gradient" in actual else f"expected a gradient or none, found {actual[:80]}"
    if symptom in ("shape", "dtype"):
        return None if due in ("", actual) else f"expected the {symptom} {due}, found {actual}"
    found = "nonfinite" if _nonfinite(actual) != _nonfinite(expected) else "value"
    return None if found == symptom else f"expected the symptom {symptom}, found {found}: {actual[:80]}"


def _behind_chatter(printed: str) -> str:
    """The last two lines of the script itself, where a framework left its own line unfinished before them."""
    at = printed.rfind("expected: ", 0, max(0, printed.rfind("\nactual: ")))
    return printed[at:] if at >= 0 else ""


def _other_exception(signature: Signature, actual: str) -> str | None:
    kind, _, message = actual.partition(":")
    if kind != signature.kind:
        return f"expected {signature.kind}, found {kind[:80]}"
    found = normalise(message)
    # A signature may hold a part of the message only.
    if signature.message in found or found in signature.message:
        return None
    return f"expected the message {signature.message[:80]!r}, found {found[:80]!r}"


def _nonfinite(text: str) -> list[str]:
    return re.findall(r"-?\binf\b|\bnan\b", text)
