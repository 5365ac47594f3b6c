"""The float64 twin: both sides once more in float64, where rounding shrinks by 2**29 and a wrong formula stays.

It sees faults that lie below the rounding of the inputs at the precision of the model.
"""

from __future__ import annotations

import numpy as np

from minrepro.compare.verdict import Question, explained, judge
from minrepro.ir.divergence import Comparison
from minrepro.ir.outcome import Completed, Outcome


def twin(question: Question, left: Outcome, right: Outcome) -> Comparison | None:
    """Judge two float64 outcomes.

    Args:
        question: about the float64 case.
        left, right: what the sides did with it.

    Returns:
        A divergence if the float64 results differ by more than float32 rounding; else None.
    """
    if not isinstance(left, Completed) or not isinstance(right, Completed):
        return None
    for name in question.outputs:
        a, b = left.values.get(name), right.values.get(name)
        if a is None or b is None:
            continue  # a gradient that was cut off
        if a.shape != b.shape or a.dtype != b.dtype or a.dtype.kind != "float" or not a.size:
            continue
        x, y = a.values, b.values
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            continue
        if float(np.max(np.abs(x - y) - explained(x, question.reach))) > 0.0:
            comparison = judge(question, left, right)
            if comparison.verdict == "diverges":
                return comparison
    return None
