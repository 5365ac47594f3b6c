"""What a pass sees of the reduction: the present best, and the questions it may ask."""

from __future__ import annotations

from typing import Callable, Sequence, TypeVar

from minrepro.errors import Unsupported
from minrepro.ir.case import Case
from minrepro.ir.outcome import Outcome
from minrepro.localise import subsets as algorithms
from minrepro.shrink.oracle import Oracle

T = TypeVar("T")


class Search:
    """The reducer's face towards a pass: a pass says what could be simpler, this asks, counts and keeps the best.

    Attributes:
        first: True in the first round, where the large moves pay.
    """

    def __init__(self, oracle: Oracle):
        self._oracle = oracle
        self.first = True

    @property
    def case(self) -> Case:
        """The smallest interesting case so far."""
        return self._oracle.best

    @property
    def worst(self) -> tuple[int, ...]:
        """Index of the worst element of that case's output."""
        return self._oracle.worst

    def accepts(self, case: Case) -> bool:
        """Take a variant if it is smaller and shows the same bug."""
        return self._oracle.accepts(case)

    def interesting(self, case: Case) -> bool:
        """Ask without taking it."""
        return self._oracle.ask(case).interest == "interesting"

    def refused(self, case: Case) -> bool:
        """True if the reference refused a variant that was asked before."""
        return self._oracle.refused(case)

    def essential(self, atoms: Sequence[T], works: Callable[[list[T]], bool]) -> list[T]:
        """The few atoms that have to stay."""
        return algorithms.essential(atoms, works)

    def smallest(self, low: int, high: int, works: Callable[[int], bool]) -> int:
        """The smallest size that works."""
        return algorithms.smallest(low, high, works)

    def reference(self, case: Case, returns: tuple[str, ...]) -> Outcome:
        """Values that the reference gives inside a case."""
        pair = self._oracle.pair
        return pair.run(case, pair.reference, returns)

    def text(self, case: Case) -> tuple[str, ...]:
        """The candidate's source text of a case; empty if it cannot be spelled."""
        pair = self._oracle.pair
        try:
            return tuple(line for step in pair.spell(case, pair.candidate).steps for line in step.lines)
        except Unsupported:
            return ()
