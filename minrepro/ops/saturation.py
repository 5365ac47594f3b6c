"""Functions that level off inside an operator, and what is lost there.

``x / 2 * (1 + tanh(v))`` rounds the tangent before it cancels against the one, so that the result is off by a rounding
of ``x / 2``, although it is almost zero itself; its slope, with ``1 - tanh(v) ** 2``, by one of ``x * v'``. Rounding the
inputs moves neither. What is lost is no more than what is missing to the limit, where the function arrives at it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Array = np.ndarray


class Levelled:
    """What levels off, and how much of its rounding comes out.

    Args:
        value: of the function that levels off at 1 or -1.
        result: weight of its rounding in the operator's result.
        slope: weight of its rounding in the derivative.
    """

    def __init__(self, value: Array, result: Array | float, slope: Array | float):
        self.value, self.result, self.slope = value, result, slope

    def lost(self, roundoff: float, weight: Array | float) -> Array:
        """Size of what is lost in units of the roundoff."""
        missing = (1.0 - np.abs(self.value)) / roundoff
        return np.abs(weight) * np.minimum(np.abs(self.value), missing)


def _gelu(x: Array, args: Mapping[str, Any]) -> Levelled:
    if args.get("approximate", "none") == "none":
        return Levelled(np.vectorize(math.erf, otypes=[float])(x / math.sqrt(2.0)), x / 2, 0.5)
    t = np.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3))
    return Levelled(t, x / 2, 0.5 + np.abs(x) * math.sqrt(2.0 / math.pi) * (1.0 + 3.0 * 0.044715 * x**2))


def _silu(x: Array, args: Mapping[str, Any]) -> Levelled:
    return Levelled(_sigmoid(x), 0.0, x)


def _mish(x: Array, args: Mapping[str, Any]) -> Levelled:
    return Levelled(np.tanh(np.logaddexp(0.0, x)), 0.0, 2.0 * x * _sigmoid(x))


def _sigmoid(x: Array) -> Array:
    return 0.5 * (1.0 + np.tanh(0.5 * x))


LEVELLED: dict[str, Callable[[Array, Mapping[str, Any]], Levelled]] = {
    **dict.fromkeys(("gelu", "gelu_"), _gelu),
    **dict.fromkeys(("silu", "silu_"), _silu),
    **dict.fromkeys(("mish", "mish_"), _mish),
    **dict.fromkeys(("tanh", "tanh_"), lambda x, args: Levelled(np.tanh(x), 0.0, 2.0)),
    **dict.fromkeys(("sigmoid", "sigmoid_"), lambda x, args: Levelled(_sigmoid(x), 0.0, 1.0)),
}
"""Operator -> what levels off in it, from its input and its arguments."""
