"""A guilty step once more by itself, without the session that it was found in."""

from __future__ import annotations

from minrepro.compare.pair import Pair
from minrepro.ir.case import Case
from minrepro.ir.divergence import Comparison
from minrepro.ir.outcome import Outcome

TRIES = 40
"""Times that a step is asked again; a bug that shows in one run of ten is met in 98 of 100 cases."""


def alone(pair: Pair, case: Case) -> tuple[Case, Comparison, Outcome, Outcome]:
    """Ask a case that diverged in a session until it diverges alone.

    Returns:
        The case, in float64 if only the float64 twin sees the fault; its judgement, which diverges unless the bug needs
        state between steps; and what both sides did.
    """
    comparison, left, right = pair.compare(case)
    if comparison.verdict in ("same", "arithmetic"):
        # A fault below the rounding of the model's own precision was found by the float64 twin.
        wide = pair.widened(case)
        again = pair.compare(wide)
        if again[0].verdict == "diverges":
            return wide, *again
        for _ in range(TRIES):
            comparison, left, right = pair.compare(case)
            if comparison.verdict == "diverges":
                break
    return case, comparison, left, right
