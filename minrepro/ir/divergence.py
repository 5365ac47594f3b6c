"""How two outcomes differ, and where in the program."""

from __future__ import annotations

from typing import Mapping

import msgspec

from minrepro.ir.graph import Node
from minrepro.ir.outcome import Outcome
from minrepro.ir.tensor import Tensor

SYMPTOMS = ("value", "nonfinite", "shape", "dtype", "structure", "exception", "accepted", "crash", "hang")
"""What is wrong: values; a NaN or infinity on one side only; shape; dtype; number of outputs; an exception where a
result is due; a result where an exception is due (``accepted``); the process dies; it never answers."""


class Divergence(msgspec.Struct, frozen=True):
    """The worst difference between two outcomes of one program.

    Attributes:
        symptom: one of `SYMPTOMS`.
        side: who is wrong: ``candidate``, ``reference``, ``both`` or ``unknown``.
        output: name of the value that differs, or ``""``.
        index: position of the worst element.
        reference: its value on the reference side, as text (dtype, shape or exception for other symptoms).
        candidate: the same on the candidate side.
        truth: float64 value of the element, as text, or ``""`` if there is no oracle.
        ratio: error of the wrong side in units of its rounding scale (`compare.verdict`), infinite where exact
            equality was due.
        absolute: largest absolute difference.
        wrong: number of elements that differ beyond the bound.
        total: number of elements of that output.
        detail: one sentence for a person.
        law: what a result that is not unique has to keep and does not, as an expression (`compare.laws`), or ``""``.
        policy: the precision setting that explains it (``inputs rounded to TF32``), or ``""``.
    """

    symptom: str
    side: str
    output: str = ""
    index: tuple[int, ...] = ()
    reference: str = ""
    candidate: str = ""
    truth: str = ""
    ratio: float = 0.0
    absolute: float = 0.0
    wrong: int = 0
    total: int = 0
    detail: str = ""
    policy: str = ""
    law: str = ""


class Comparison(msgspec.Struct, frozen=True):
    """The judgement of one program on two sides.

    Attributes:
        verdict: ``same``, ``arithmetic`` (different, but within what rounding explains), ``diverges``, ``shared``
            (both refuse or both are wrong alike), ``unsupported`` or ``unresolved``.
        ratio: worst error ratio seen (1 is the size of ordinary rounding).
        divergence: what differs, if the verdict is ``diverges``.
        why: one sentence for the other verdicts.
    """

    verdict: str
    ratio: float = 0.0
    divergence: Divergence | None = None
    why: str = ""


class Site(msgspec.Struct, frozen=True):
    """A guilty step: the node, its pinned inputs, and the evidence."""

    node: Node
    feeds: Mapping[str, Tensor]
    comparison: Comparison
    reference: Outcome
    candidate: Outcome
