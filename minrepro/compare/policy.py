"""Is an error the rounding of a narrower format (TF32, bfloat16, float16)? Then it is a setting and not a bug.

The size of the error suggests the format: rounding the inputs to p bits moves the output by a known part of its
sensitivity. The name counts only if a prediction comes true: float64 on inputs rounded to that format, or the float64
result rounded to it, or both, is what the side answered (design note on reduction, 5.4).
"""

from __future__ import annotations

import math
from typing import Callable, Mapping, Sequence

import msgspec
import numpy as np

from minrepro.compare.magnitude import rms


class Format(msgspec.Struct, frozen=True):
    """A narrow floating-point format: significant bits, and the NumPy type that also has its range (or ``""``)."""

    name: str
    digits: int
    storage: str = ""

    @property
    def roundoff(self) -> float:
        """Unit roundoff."""
        return 2.0**-self.digits


FORMATS = (Format("TF32", 11), Format("float16", 11, "float16"), Format("bfloat16", 8))
"""Formats that frameworks compute in without being asked (IEEE 754-2019 table 3.5 for float16)."""
CONSTANT = 1.24
"""Bits between the roundoff of a format and the RMS error of rounding to it (design note on reduction, 5.4)."""
FEW = 64
"""Elements that are looked at before all of them are."""
EVIDENCE = 3
"""Elements that the format has to change before a result that it can hold says anything."""

Rounded = Callable[[Format], Sequence[Mapping[str, np.ndarray]]]
"""Float64 outputs for inputs rounded to a format: all of them, then factors only where there is an addend."""


def rounded(values: np.ndarray, to: Format) -> np.ndarray:
    """Round to nearest even in a format; the range is unbounded unless the format has a NumPy type."""
    with np.errstate(all="ignore"):
        if to.storage:
            return values.astype(to.storage).astype(np.float64)
        mantissa, exponent = np.frexp(values)
        near = np.ldexp(np.rint(np.ldexp(mantissa, to.digits)), exponent - to.digits)
        return np.where(np.isfinite(values), near, values)


def implied(error: np.ndarray, sensitivity: np.ndarray) -> float:
    """Log2 of the unit roundoff that would explain an error as rounded inputs; NaN if there is nothing to go by."""
    with np.errstate(all="ignore"):
        top, bottom = rms(error), rms(sensitivity)
    if not (top > 0 and bottom > 0 and math.isfinite(top) and math.isfinite(bottom)):
        return math.nan
    return math.log2(top / bottom) + CONSTANT


def identify(
    name: str, y: np.ndarray, z: np.ndarray, sensitivity: np.ndarray, scale: np.ndarray, bound: float, inputs: Rounded
) -> str:
    """The policy that explains a result, as words for the report; ``""`` if none does.

    Args:
        name: the output.
        y: what the side answered.
        z: the float64 result.
        sensitivity: of `z`.
        scale: size of ordinary rounding of each element in the side's own dtype.
        bound: how many times that is legal.
        inputs: float64 results for rounded inputs.
    """
    if y.dtype.kind != "f" or not np.isfinite(z).all():
        return ""
    told = outputs_rounded(y, z, scale)
    if told:
        return told
    guess = implied(y - z, sensitivity)
    # A bounded output, or inputs that all round the same way, are off by less or more: the size only gives the order.
    for to in sorted(FORMATS, key=lambda to: abs(guess + to.digits) if math.isfinite(guess) else 0.0):
        for other in inputs(to):
            w = other.get(name)
            if w is None or w.shape != y.shape:
                continue
            with np.errstate(all="ignore"):
                told = np.count_nonzero(np.abs(w - z) > 2.0 * scale) >= min(EVIDENCE, y.size)
                fits = told and bool(np.all((np.abs(y - w) <= bound * scale) | (y == w)))
            if fits:
                return f"inputs rounded to {to.name}"
            if _is_cast(y, w, scale, to):
                return f"inputs and outputs rounded to {to.name}"
    return ""


def outputs_rounded(y: np.ndarray, z: np.ndarray, scale: np.ndarray | float) -> str:
    """The policy that rounds results only, as words; all that can explain a copy. Arguments as for `identify`."""
    if y.dtype.kind != "f" or not np.isfinite(z).all():
        return ""
    return next((f"outputs rounded to {to.name}" for to in FORMATS if _is_cast(y, z, scale, to)), "")


def _is_cast(y: np.ndarray, z: np.ndarray, scale: np.ndarray | float, to: Format) -> bool:
    """True if `y` lies in the format throughout, `z` does not, and they are at most one rounding apart."""
    # A few elements settle it for almost every tensor.
    some = y.reshape(-1)[:FEW]
    if not bool(np.all(rounded(some, to) == some)) or not bool(np.all(rounded(y, to) == y)):
        return False
    with np.errstate(all="ignore"):
        near = rounded(z, to)
        moved = np.count_nonzero(np.abs(near - z) > 2.0 * scale)
        # A float32 value beside a tie of the format may go either way, by the error that float32 itself has.
        close = np.abs(y - z) <= to.roundoff * np.abs(z) * (1.0 + 2.0 * to.roundoff) + 2.0 * scale
        if to.storage:
            least = float(np.finfo(to.storage).tiny)
            close |= (np.abs(z) < least) & (np.abs(y - z) <= to.roundoff * least + 2.0 * scale)
        return moved >= min(EVIDENCE, y.size) and bool(np.all(close | (y == near)))
