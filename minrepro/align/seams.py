"""What stands at the entry and the exit of every unit, on the reference and on all that follow it."""

from __future__ import annotations

from typing import Mapping

import msgspec
import numpy as np

from minrepro.compare.magnitude import rms
from minrepro.ir.dtype import from_float64
from minrepro.ir.tensor import Tensor

Key = tuple[int, int]
"""(number of the unit, how often it was called before)."""
NUDGES = ("moved0", "moved1", "moved2")
"""Roles of the runs on moved values, whose spread is the sensitivity."""
Opened = Mapping[int, frozenset[str]]
"""Units that are left to themselves: number -> at its entry ("in"), at its exit ("out"). Their values are compared, but not
put right: the port's code has another convention there."""


class Record(msgspec.Struct):
    """What the reference did in one call of a unit; freed when every follower has passed."""

    unit: int
    call: int
    stack: tuple[Key, ...]
    line: tuple[str, int]
    labels: tuple[str, ...]
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...] | None = None
    output_labels: tuple[str, ...] = ()
    written: dict[int, Tensor] = {}
    passed: set[str] = set()


class Seam(msgspec.Struct):
    """The values of one seam, gathered from all followers.

    Attributes:
        unit, call: whose entry or exit.
        part: ``in`` or ``out``.
        maker: number of the unit that made the values, and `maker_call` which call of it.
        labels: one per tensor.
        reference: the reference's tensors.
        others: role -> tensors, None where the follower has none that fits.
        lines: (file, line) on the reference and on the candidate.
        spans: (file, first, last) of the candidate's code that ran since the seam before.
        inputs: parameter -> tensor that the unit was called with, at its exit.
        overwritten: (label, due, written) of inputs that only the port writes to.
        opened: see `Opened`.
    """

    unit: int
    call: int
    part: str
    maker: int
    labels: tuple[str, ...]
    reference: tuple[Tensor, ...]
    others: dict[str, tuple[Tensor | None, ...]]
    lines: dict[str, tuple[str, int]]
    spans: tuple[tuple[str, int, int], ...] = ()
    surplus: int = 0
    maker_call: int = 0
    inputs: dict[str, Tensor] = {}
    overwritten: tuple[tuple[str, Tensor, Tensor], ...] = ()
    opened: bool = False


def matched(own, own_labels, due, labels, entering: bool) -> list[int | None]:
    """For each tensor that is due, the position of the follower's tensor that stands for it."""
    if len(own) == len(due):
        return list(range(len(due)))
    by_label = {label: i for i, label in enumerate(own_labels)}
    if any(label in by_label for label in labels):
        return [by_label.get(label) for label in labels]
    return [i if i < len(own) else None for i in range(len(due))]


def disturbed(tensor: Tensor) -> Tensor:
    """Other values of the same kind: a reader that gives the same results for them does not look at them.

    Numbers move by noise of their own size; integers change places, so that an index stays one; bools are turned over.
    """
    values = np.array(tensor.view)
    if tensor.dtype.kind == "bool":
        return Tensor(~values, tensor.dtype)
    if not tensor.dtype.inexact:
        return Tensor(np.ascontiguousarray(np.roll(values.reshape(-1), 1).reshape(values.shape)), tensor.dtype)
    noise = np.random.default_rng(0).standard_normal(values.shape)
    return Tensor(from_float64(tensor.values + noise * (rms(tensor.values) or 1.0), tensor.dtype), tensor.dtype)
