"""The verdict where a side did not complete: it raised, died, or never answered."""

from __future__ import annotations

import math

from minrepro.ir.divergence import Comparison, Divergence
from minrepro.ir.outcome import Completed, Crashed, Outcome, Raised, TimedOut, Unspelled, from_outside


def failures(reference: Outcome, candidate: Outcome) -> Comparison | None:
    """The verdict if at least one side did not complete."""
    for side, outcome in (("reference", reference), ("candidate", candidate)):
        if isinstance(outcome, Unspelled):
            return Comparison("unsupported", why=f"{side}: {outcome.why}")
        if from_outside(outcome) or _out_of_memory(outcome):
            return Comparison("unresolved", why=f"{side}: {_describe(outcome)}; that says nothing about the framework")
    if isinstance(reference, Completed) and isinstance(candidate, Completed):
        return None
    if isinstance(reference, Completed):
        return _diverges(_SYMPTOM[type(candidate)], "candidate", "a result", _describe(candidate))
    if isinstance(candidate, Completed):
        if isinstance(reference, Raised):
            if "not implemented" in reference.message.lower():
                return Comparison("unresolved", why=f"the reference has no kernel: {reference.message[:200]}")
            return _diverges("accepted", "candidate", _describe(reference), "a result")
        return _diverges(_SYMPTOM[type(reference)], "reference", _describe(reference), "a result")
    if isinstance(reference, Raised) and isinstance(candidate, (Crashed, TimedOut)):
        return _diverges(_SYMPTOM[type(candidate)], "candidate", _describe(reference), _describe(candidate))
    return Comparison("shared", why=f"both sides fail: {_describe(reference)}; {_describe(candidate)}")


def _out_of_memory(outcome: Outcome) -> bool:
    """True for an exception that only says that memory ran out."""
    if not isinstance(outcome, Raised):
        return False
    words = ("not enough memory", "out of memory", "cannot allocate memory", "std::bad_alloc")
    return outcome.kind == "MemoryError" or any(word in outcome.message.lower() for word in words)


_SYMPTOM = {Raised: "exception", Crashed: "crash", TimedOut: "hang"}


def _describe(outcome: Outcome) -> str:
    if isinstance(outcome, Raised):
        lines = [line.strip() for line in outcome.message.splitlines() if line.strip()] or [""]
        # Paddle begins with the kind of the error, in brackets; OneFlow names it last, after a trace.
        first = lines[0].startswith("(")
        said = lines[0] if first else next((line for line in reversed(lines) if "Error" in line), lines[0])
        return f"{outcome.kind}: {said[:240]}"
    if isinstance(outcome, Crashed):
        return f"the process dies ({outcome.signal})"
    if isinstance(outcome, TimedOut):
        return f"no answer within {outcome.seconds:g} s"
    return type(outcome).__name__


def _diverges(symptom: str, side: str, reference: str, candidate: str) -> Comparison:
    detail = f"reference: {reference}; candidate: {candidate}"
    divergence = Divergence(symptom, side, "", (), reference, candidate, ratio=math.inf, detail=detail)
    return Comparison("diverges", math.inf, divergence)
