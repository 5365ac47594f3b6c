"""Case, signature -> Reduction: the smallest case in the total order with the same signature.

Passes (one file each in `passes/`) run in order until none of them changes anything. Then every single step that any
pass still knows is asked once more: that list, with its answers, is the certificate that nothing is left to remove.
"""

from __future__ import annotations

from types import ModuleType

from minrepro import registry
from minrepro.ir.order import key
from minrepro.ir.reduction import Needed, Reduction
from minrepro.shrink.oracle import BudgetSpent, Oracle
from minrepro.shrink.state import Search

ROUNDS = 8
"""Rounds of all passes at most; two are the rule, since a second one mostly asks what is cached."""


def ordered() -> tuple[ModuleType, ...]:
    """The reduction passes in the order in which they run."""
    return tuple(sorted(registry.modules("minrepro.shrink.passes"), key=lambda module: module.ORDER))


def shrink(oracle: Oracle) -> Reduction:
    """Reduce the oracle's start case.

    Args:
        oracle: holds the start, the signature and the budget; its `observe` was called.

    Returns:
        The reduction; `complete` is False if the budget ended first, and then the best case so far is given.
    """
    search = Search(oracle)
    certificate: tuple[Needed, ...] = ()
    complete = True
    try:
        for _ in range(ROUNDS):
            before = key(oracle.best)
            for module in ordered():
                oracle.level = name(module)
                module.run(search)
            if key(oracle.best) == before:
                found = _certificate(oracle, search)
                if found is not None:
                    certificate = found
                    break
    except BudgetSpent:
        complete = False
    slipped = tuple(oracle.slipped.items())
    return Reduction(oracle.best, oracle.signature, dict(oracle.queries), certificate, slipped, complete)


def _certificate(oracle: Oracle, search: Search) -> tuple[Needed, ...] | None:
    """Ask every single step once; None if one of them is accepted after all, which starts another round."""
    lines: dict[str, str] = {}
    oracle.level = "certificate"
    for module in ordered():
        for what, variant in list(module.steps(search)):
            if key(variant) >= key(oracle.best):
                continue
            if oracle.accepts(variant):
                return None
            answer = oracle.ask(variant)
            lines.setdefault(what, answer.interest if not answer.why else f"{answer.interest}: {answer.why}")
    return tuple(Needed(what, result) for what, result in lines.items())


def name(module: ModuleType) -> str:
    """Short name of a pass."""
    return module.__name__.rpartition(".")[2]

