"""From a reduced case to what a script is made from: whose framework, what is due, and why."""

from __future__ import annotations

from minrepro.compare.laws import LEGAL
from minrepro.compare.pair import Pair
from minrepro.compare.verdict import allowance
from minrepro.errors import InternalError
from minrepro.ir.case import Case
from minrepro.ir.divergence import Comparison
from minrepro.ir.dtype import from_float64
from minrepro.ir.outcome import Completed, Outcome
from minrepro.ir.reduction import Diagnosis, Finding, Rate
from minrepro.ir.signature import Signature
from minrepro.ir.tensor import Tensor


def finding(
    pair: Pair,
    case: Case,
    comparison: Comparison,
    reference: Outcome,
    candidate: Outcome,
    signature: Signature,
    diagnosis: Diagnosis,
    model: str = "",
    site: str = "",
    rate: Rate | None = None,
) -> Finding:
    """Put together what the emitter prints.

    Args:
        pair: both sides, for the float64 value of what is expected.
        case: the reduced case.
        comparison: its judgement, which diverges.
        reference, candidate: what the sides did.
        signature, diagnosis: identity and cause of the bug.
        model: what the user called the model.
        site: module path, operator and source line in it.
        rate: how often the case shows the bug; None if it does every time.

    Raises:
        InternalError: if the comparison does not diverge.
    """
    found = comparison.divergence
    if found is None:
        raise InternalError(f"expected a divergence to write down, found {comparison.verdict}")
    blamed, other = (pair.reference, pair.candidate) if found.side == "reference" else (pair.candidate, pair.reference)
    wrong, right = (reference, candidate) if found.side == "reference" else (candidate, reference)
    expected, why = {}, f"{pair.reference.title} refuses it"
    if isinstance(right, Completed):
        expected, why = _expected(pair, case, comparison, right, f"what {other.title} computes from the same input")
    bounds = {}
    if found.law:
        bounds[found.output] = min(LEGAL * found.absolute / found.ratio, found.absolute / 2)
    elif found.symptom == "value" and found.output in expected:
        limit = allowance(pair.question(case), found.output, expected[found.output].dtype)
        bounds[found.output] = min(limit, found.absolute / 2)
    return Finding(
        case, "reference" if blamed is pair.reference else "candidate", found, expected,
        "the source's own values" if case.mode == "load" else why, bounds, wrong, signature, diagnosis,
        blamed.versions(), blamed.spec.replay, model, site, rate,
    )


def _expected(
    pair: Pair, case: Case, comparison: Comparison, right: Completed, why: str
) -> tuple[dict[str, Tensor], str]:
    """The right side's values, rounded from float64 where a float64 run exists, and where they come from."""
    found, question = comparison.divergence, pair.question(case)
    expected = dict(right.values)
    if found is None or found.symptom not in ("value", "nonfinite"):
        return expected, why
    second = question.second()
    truth = question.truth() if second is None and question.kind != "index" else None
    wide, origin = {}, why
    if second is not None:
        wide, origin = second, "float64 NumPy"
    elif truth is not None:
        wide, origin = truth.values, truth.origin
    for name, tensor in right.values.items():
        if name in wide and wide[name].shape == tensor.shape and tensor.dtype.inexact:
            expected[name] = Tensor(from_float64(wide[name], tensor.dtype), tensor.dtype)
            why = origin
    return expected, why
