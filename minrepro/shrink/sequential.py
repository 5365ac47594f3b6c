"""Decisions about a bug that shows only now and then: as many runs as the answer needs, and no more.

Wald's sequential probability ratio test weighs "as often as the start shows it" against "as often as chance shows it".
Taking any failure out of n runs instead keeps 9 % to 71 % of such bugs, one run per question 77 % to 82 %, this test all
(design note on reduction, section 10, measured).

Source: A. Wald, Sequential tests of statistical hypotheses, Annals of Mathematical Statistics 16 (1945).
"""

from __future__ import annotations

import math

from minrepro.ir.reduction import Rate

ALPHA, BETA = 1e-4, 0.05
"""Chances of a wrong yes and of a wrong no: a wrong yes loses the bug for good, a wrong no only costs size (section 10,
which has 1e-3 for a yes; a reduction asks about a hundred questions whose answer is no, and 1 % of all may be lost)."""
SHARE = 0.8
"""A variant has to show the bug at least this many times as often as the start (section 10)."""
KEPT = 0.5
"""Below this part of the start's rate nothing is taken, or a search drifts to ever rarer variants (section 10)."""
RARE = 1e-3
"""Least rate that is ascribed to chance (section 10)."""
CHANCE = Rate(4, 200)
"""What is assumed of variants without the bug before any was seen: the 2 % that section 10 was measured with. Fewer runs
let a few lucky variants talk it down: with 1 of 50, 1 % of all bugs were lost (`tests/quality/flaky.py`)."""
APART = 4.0
"""Least factor between the two rates that are weighed; without one no number of runs would tell them apart."""
LONGEST = 1000
"""Runs after which an undecided variant is not taken; a factor of `APART` is told in fewer on average."""


class Sequence:
    """One question that is asked until it is decided.

    Args:
        high: least rate of a variant that has the bug.
        low: largest rate of one that has not.
    """

    def __init__(self, high: float, low: float):
        self.matches = self.runs = 0
        self.decision: bool | None = None
        high = min(high, 1.0 - RARE)
        self._yes, self._no = math.log(high / low), math.log((1.0 - high) / (1.0 - low))
        self._sum = 0.0

    @property
    def rate(self) -> Rate:
        """What was seen so far."""
        return Rate(self.matches, self.runs)

    def add(self, match: bool) -> bool | None:
        """Count one run; answers the decision, or None while there is none."""
        self.matches, self.runs = self.matches + match, self.runs + 1
        self._sum += self._yes if match else self._no
        if self.decision is not None:
            return self.decision
        if self._sum >= math.log((1.0 - BETA) / ALPHA):
            self.decision = True
        elif self._sum <= math.log(BETA / (1.0 - ALPHA)) or self.runs >= LONGEST:
            self.decision = False
        return self.decision


def sequence(start: Rate, chance: Rate) -> Sequence:
    """The test of one variant.

    Args:
        start: how often the start shows the bug.
        chance: how often variants without it seem to show it.
    """
    high = SHARE * start.share
    return Sequence(high, min(max(2.0 * chance.share, RARE), high / APART))


def enough(share: float, doubt: float) -> int:
    """Runs until a bug of some rate has been seen once, but for a chance of `doubt`."""
    return 1 if share >= 1.0 else math.ceil(math.log(doubt) / math.log1p(-share))
