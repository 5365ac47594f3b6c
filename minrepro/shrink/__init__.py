"""Case, signature -> Reduction: the smallest case in the total order with the same signature.

Passes (one file each in `passes/`) run in order, each with the large moves that it knows. From then on every pass is
only asked for its single steps, and runs again where one of them is accepted. When no step of any pass is accepted any
more, that list, with its answers, is the certificate that nothing is left to remove.
"""

from __future__ import annotations

import time
from types import ModuleType

from minrepro import registry
from minrepro.ir.reduction import Needed, Reduction
from minrepro.shrink.oracle import BudgetSpent, Oracle
from minrepro.shrink.order import key
from minrepro.shrink.state import Search

ROUNDS = 8
"""Rounds of all passes at most; two are the rule."""


def ordered() -> tuple[ModuleType, ...]:
    """The reduction passes in the order in which they run."""
    return tuple(sorted(registry.modules("minrepro.shrink.passes"), key=lambda module: module.ORDER))


def shrink(oracle: Oracle) -> Reduction:
    """Reduce the oracle's start case.

    The case at the end has to show its bug once more. If it does not, single runs were believed that must not be, and
    the search begins anew with repeated ones.

    Args:
        oracle: holds the start, the signature and the budget; its `observe` was called.

    Returns:
        The reduction; `complete` is False if the budget ended first, and then the best case so far is given.
    """
    oracle.began = time.monotonic()
    certificate, complete = _search(oracle)
    oracle.evidence = oracle.witness()
    while oracle.evidence is None and oracle.rate is None:
        oracle.distrust()
        certificate, complete = _search(oracle)
        oracle.evidence = oracle.witness()
    slipped = tuple(oracle.slipped.values())
    rate = oracle.measure()
    return Reduction(oracle.best, oracle.signature, dict(oracle.queries), certificate, slipped, complete, rate)


def _search(oracle: Oracle) -> tuple[tuple[Needed, ...], bool]:
    """All passes until none of them finds anything; the certificate, and whether the budget lasted."""
    search = Search(oracle)
    try:
        for number in range(ROUNDS):
            before, search.first = key(oracle.best), number == 0
            for module in ordered():
                oracle.level = name(module)
                if number == 0 or any(search.accepts(variant) for _, variant in module.steps(search)):
                    module.run(search)
            if number and key(oracle.best) == before:
                return _certificate(oracle, search), True
    except BudgetSpent:
        return (), False
    return (), True


def _certificate(oracle: Oracle, search: Search) -> tuple[Needed, ...]:
    """Every single step with the answer it got; all of them were asked, and none was accepted."""
    lines: dict[str, str] = {}
    for module in ordered():
        oracle.level = name(module)
        for what, variant in module.steps(search):
            if key(variant) < key(oracle.best):
                answer = oracle.ask(variant)
                lines.setdefault(what, answer.interest if not answer.why else f"{answer.interest}: {answer.why}")
    return tuple(Needed(what, result) for what, result in lines.items())


def name(module: ModuleType) -> str:
    """Short name of a pass."""
    return module.__name__.rpartition(".")[2]

