"""Gradients that a side does not have: it cut the graph between input and output."""

from __future__ import annotations

import math

import numpy as np

from minrepro.ir.divergence import Comparison, Divergence
from minrepro.ir.outcome import Completed
from minrepro.ir.tensor import Tensor


def missing(name: str, reference: Completed, candidate: Completed) -> Comparison | None:
    """Judge a value that a side may lack; None if both have it.

    No gradient and a gradient of zeros say the same: the output does not depend on the input.
    """
    left, right = reference.values.get(name), candidate.values.get(name)
    if left is not None and right is not None:
        return None
    if _nothing(left) and _nothing(right):
        return Comparison("same", why="no gradient")
    seen, there = ("a gradient", "no gradient") if right is None else ("no gradient", "a gradient")
    detail = f"{name}: {seen} on the reference, {there} on the candidate"
    found = Divergence("structure", "candidate", name, (), seen, there, ratio=math.inf, detail=detail)
    return Comparison("diverges", math.inf, found)


def _nothing(value: Tensor | None) -> bool:
    return value is None or not np.any(value.values)
