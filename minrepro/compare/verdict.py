"""Are two outcomes the same, and if not, who is wrong?

No fixed tolerance decides. Operators fall into classes (`ops.row.KINDS`): exact ones have to agree bit for bit; for
the others the error of each side against a float64 run is measured in units of what rounding the inputs would do to
the output, so a legal order of summation has a ratio of about 1 and a wrong formula one of thousands.

Source of all constants: the design note on reduction, sections 5.1 to 5.3 (measured over 144 labelled kernel pairs).
"""

from __future__ import annotations

import math
from typing import Callable, Mapping, Sequence

import msgspec
import numpy as np

from minrepro.compare.blame import blame
from minrepro.compare.failures import failures
from minrepro.compare.laws import LEGAL, Broken
from minrepro.compare.magnitude import apart, first, largest_gap, rms, ulps, worst
from minrepro.compare.missing import missing
from minrepro.compare.policy import Rounded, identify, outputs_rounded
from minrepro.ir.divergence import Comparison, Divergence
from minrepro.ir.dtype import DType
from minrepro.ir.outcome import Completed, Outcome
from minrepro.ir.tensor import Tensor

ALPHA = 1e-3
"""Chance of one false alarm per tensor that `bound` allows (section 5.3)."""
LADDER = 0.5
"""Share of the bits between two precisions by which rounding makes an error smaller; a formula has none of it (5.5)."""
STEEPEST = 3.0
"""How fast the value changes with the position, between neighbours of size 1: the slopes of the cubic weights added up."""
SINGLE, DOUBLE = 2.0**-24, 2.0**-53
"""Unit roundoffs of float32 and float64."""
CERTAIN = 8.0
"""A side is called wrong only if its ratio is this many times the bound (section 5.3, verdict table)."""


class Truth(msgspec.Struct, frozen=True):
    """A float64 run of the same program.

    Attributes:
        values: output -> float64 values.
        sensitivity: output -> RMS change of each element per unit relative random change of the inputs.
        origin: who computed it, for the report.
    """

    values: Mapping[str, np.ndarray]
    sensitivity: Mapping[str, np.ndarray]
    origin: str


class Question(msgspec.Struct, frozen=True):
    """What a comparison is about.

    Attributes:
        kind: operator class of the program; the loosest one of its nodes.
        length: number of terms added up for one element of the output.
        outputs: names of the values to compare, in order.
        truth: float64 run of the program, or None where there is none; called only if the screen fails.
        second: independent float64 run (NumPy), to settle who is wrong.
        at: values found at the given indices of an index operator's input (``(output, indices) -> values``).
        wide: the candidate's own float64 run: it tells rounding from a wrong formula.
        rounded: float64 outputs for inputs rounded to a narrower format.
        free: outputs that are not unique (`compare.freedom`).
        merged: tells if the values make a gradient ambiguous that is unique elsewhere; called only if sides differ.
        kept: the law of the operator that an outcome keeps least (`compare.laws`), where results are not unique.
        typed: False if the candidate computes in a precision of its own (NumPy), so that a floating dtype says nothing.
        reach: largest position that the program computes in floating point, to interpolate there.
        screen: largest difference, in units of the screen's scale, that needs no float64 run; `unit` is what one of
            them is worth as a ratio.
        weighed: told the difference in those units, and the ratio, where a float64 run has excused it.
    """

    kind: str
    length: int
    outputs: tuple[str, ...]
    truth: Callable[[], Truth | None] = lambda: None
    second: Callable[[], Mapping[str, np.ndarray] | None] = lambda: None
    at: Callable[[str, np.ndarray], np.ndarray | None] = lambda name, index: None
    wide: Callable[[], Mapping[str, np.ndarray] | None] = lambda: None
    rounded: Rounded = lambda to: ()
    free: frozenset[str] = frozenset()
    merged: Callable[[], bool] = lambda: False
    kept: Callable[[Mapping[str, Tensor]], Broken | None] = lambda values: None
    typed: bool = True
    reach: int = 1
    screen: float = 1.0
    unit: float = 1.0
    weighed: Callable[[float, float], None] = lambda difference, ratio: None

    def settled(self) -> Question:
        """The same question where the reference is known to be right, so that nobody else has to be asked."""
        return Question(self.kind, self.length, self.outputs, at=self.at, free=self.free, kept=self.kept, typed=self.typed)

    @property
    def growth(self) -> float:
        """How many times one rounding an element may be off: terms add up, and a position is rounded where it is."""
        return math.sqrt(max(self.length, 1)) * self.reach


def bound(elements: int) -> float:
    """Largest ratio that rounding explains among so many elements: the expected maximum of Gaussians."""
    return math.sqrt(2.0 * math.log(2.0 * max(elements, 1) / ALPHA))


def judge(question: Question, reference: Outcome, candidate: Outcome) -> Comparison:
    """Compare what two sides did with one program."""
    early = failures(reference, candidate)
    if early is not None:
        return early
    assert isinstance(reference, Completed) and isinstance(candidate, Completed)
    ratio, arithmetic = 0.0, ""
    for name in question.outputs:
        result = missing(name, reference, candidate)
        if result is None:
            result = _output(question, name, reference.values[name], candidate.values[name])
        if result.verdict not in ("same", "arithmetic"):
            return result
        ratio = max(ratio, result.ratio)
        arithmetic = result.why or arithmetic if result.verdict == "arithmetic" else arithmetic
    if question.free:
        lawless = _lawless(question, reference.values, candidate.values)
        if lawless is not None:
            return lawless
    return Comparison("arithmetic" if arithmetic else "same", ratio, why=arithmetic)


def _lawless(question: Question, a: Mapping[str, Tensor], b: Mapping[str, Tensor]) -> Comparison | None:
    """A result that is not unique and that breaks a law of its operator on one side."""
    left, right = question.kept(a), question.kept(b)
    if left is None or right is None:
        return None
    if (left.ratio > LEGAL) == (right.ratio > LEGAL):
        return None
    side = "candidate" if right.ratio > LEGAL else "reference"
    bad = right if side == "candidate" else left
    shown = [f"off by {broken.residue:.3g}" for broken in (left, right)]
    detail = f"{bad.output}: {bad.law.says}: {shown[0]} on the reference, {shown[1]} on the candidate"
    size = b[bad.output].size
    found = Divergence("value", side, bad.output, (), *shown, f"at most {bad.bound:.3g}", bad.ratio, bad.residue,
                       size, size, detail, law=bad.law.text)
    return Comparison("diverges", bad.ratio, found)


def _output(question: Question, name: str, a: Tensor, b: Tensor) -> Comparison:
    """Compare one output that both sides have."""
    if not question.typed and a.dtype.kind == b.dtype.kind and a.dtype.inexact:
        b = b.cast(a.dtype)
    for symptom, left, right in (("shape", a.shape, b.shape), ("dtype", a.dtype.name, b.dtype.name)):
        if left != right:
            detail = f"{symptom} of {name}: {_shown(left)} on the reference, {_shown(right)} on the candidate"
            side = _blame_meta(question, name, symptom, a, b)
            found = Divergence(symptom, side, name, (), _shown(left), _shown(right), ratio=math.inf, detail=detail)
            return Comparison("diverges", math.inf, found)
    if question.kind == "random" or a.size == 0:
        return Comparison("same")
    if np.array_equal(a.view, b.view) if not a.dtype.inexact else _bits_equal(a.view, b.view):
        return Comparison("same")
    if question.kind == "index" and not a.dtype.inexact:
        return _indices(question, name, a, b)
    if question.kind in ("faithful", "reduction", "iterative") and a.dtype.name == "float32" and name not in question.free:
        times = apart(question.growth, a.dtype, a.view, b.view)
        if times <= question.screen:
            return Comparison("same", times * question.unit)
    # Integers stay what they are: float64 loses digits from 2**53 on. Where bits are compared, nothing has to be widened.
    exact = question.kind == "exact" and a.dtype.name in ("float32", "float64")
    x, y = (a.values, b.values) if a.dtype.inexact and not exact else (a.view, b.view)
    equal = x == y
    if not equal.all():
        equal |= np.isnan(x) & np.isnan(y)
    if equal.all():
        return Comparison("same")
    if (name in question.free or question.merged()) and np.isfinite(x).all() and np.isfinite(y).all():
        return Comparison("same", why=f"{name} is not unique: only structure and finiteness are compared")
    if not a.dtype.inexact or question.kind in ("exact", "index"):
        return _exact(question, name, x, y, ~equal)
    if question.kind == "rounded" and ulps(x, y, a.dtype) <= 1:
        return Comparison("same", 1.0)
    return _numeric(question, name, a.dtype, x, y, equal)


def _bits_equal(x: np.ndarray, y: np.ndarray) -> bool:
    """A cheap first answer for the common case; NaN and signed zero are left to the caller."""
    return x.strides == y.strides and x.tobytes() == y.tobytes() if x.size < 1 << 16 else bool(np.array_equal(x, y))


def _shown(value: object) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)


def _blame_meta(question: Question, name: str, symptom: str, a: Tensor, b: Tensor) -> str:
    second = question.second() if symptom == "shape" else None
    if second is None or name not in second:
        return "candidate"
    return "reference" if second[name].shape == b.shape != a.shape else "candidate"


def _indices(question: Question, name: str, a: Tensor, b: Tensor) -> Comparison:
    """Index outputs: what stands at the indices has to be equal; then another index is only another tie order."""
    left, right = question.at(name, a.view), question.at(name, b.view)
    if left is not None and right is not None:
        if np.array_equal(left, right, equal_nan=left.dtype.kind in "fc"):
            return Comparison("arithmetic", why="ties are broken in another order")
    return _exact(question, name, a.view, b.view, a.view != b.view)


def _exact(question: Question, name: str, x: np.ndarray, y: np.ndarray, differs: np.ndarray) -> Comparison:
    """A difference where bit equality is due."""
    index = first(differs)
    own = question.truth()
    side, z = _blame(question, name, x, y, None if own is None else own.values.get(name), _identical)
    truth = repr(z[index].item()) if z is not None else ""
    policy = ""
    if side != "reference" and x.dtype.kind == "f":
        policy = outputs_rounded(y, x, 0.0)
    found = _found(_symptom(x[index], y[index]), side, name, index, x, y, truth, math.inf, differs)
    return _with_policy(found, policy)


def _identical(value: np.ndarray, truth: np.ndarray) -> bool:
    with np.errstate(all="ignore"):
        return bool(np.all((value == truth) | (np.isnan(value) & np.isnan(truth))))


def _blame(question: Question, name: str, x, y, own, near) -> tuple[str, np.ndarray | None]:
    """Ask everybody who can say which side is wrong; where nobody can, the reference is what was asked for."""

    def of(values: Mapping[str, np.ndarray] | None) -> np.ndarray | None:
        return None if values is None else values.get(name)

    second = of(question.second())
    side, truth = blame(x, y, own, second, lambda: of(question.wide()), near)
    return ("candidate", None) if side == "unknown" and own is None and second is None else (side, truth)


def _with_policy(comparison: Comparison, policy: str) -> Comparison:
    found = comparison.divergence
    if not policy or found is None:
        return comparison
    detail = f"{found.detail}; {policy} explain every element"
    return msgspec.structs.replace(comparison, divergence=msgspec.structs.replace(found, policy=policy, detail=detail))


def _numeric(question: Question, name: str, dtype: DType, x, y, equal: np.ndarray) -> Comparison:
    """Tiers 0 to 2 for floating-point outputs."""
    finite = np.isfinite(x) & np.isfinite(y)
    split = ~finite & ~equal
    if not split.any():
        with np.errstate(all="ignore"):
            screen = dtype.roundoff * (np.abs(x) + rms(x)) * question.growth + dtype.tiny
            times = float(np.max(np.where(equal, 0.0, np.abs(x - y) / screen), initial=0.0))
        if times <= question.screen:
            return Comparison("same", times * question.unit)
    truth = question.truth()
    if truth is None or name not in truth.values or truth.values[name].shape != x.shape:
        second = question.second()
        if second is None or name not in second or second[name].shape != x.shape:
            return _unproven(name, x, y, equal, split)
        truth = Truth({name: second[name]}, {name: np.zeros(x.shape)}, "NumPy")
    if split.any():
        return _nonfinite(question, name, dtype, x, y, split, truth)
    found = _ratios(question, name, dtype, x, y, truth)
    if found.verdict == "same":
        question.weighed(times, found.ratio)
    return found


def _unproven(name, x, y, equal, split) -> Comparison:
    """No float64 run exists: a plain difference can be stated but nobody is blamed."""
    if split.any():
        index = first(split)
        return _found("nonfinite", "unknown", name, index, x, y, "", math.inf, split)
    return Comparison("unresolved", why=f"{name} differs and there is no float64 run to judge it by")


def _nonfinite(question, name, dtype, x, y, split, truth: Truth) -> Comparison:
    """A NaN or infinity on one side only."""
    z = truth.values[name]
    limit = float(np.finfo(np.float32).max) if dtype.name in ("float32", "bfloat16", "complex64") else None
    limit = 65504.0 if dtype.name == "float16" else limit if limit is not None else np.finfo(np.float64).max
    with np.errstate(all="ignore"):
        # Near the largest number either answer may be right.
        near = np.abs(z) >= limit * (1 - bound(x.size) * math.sqrt(question.length) * dtype.roundoff)
        excusable = split & near & np.isfinite(z) & ~np.isnan(x) & ~np.isnan(y)
    real = split & ~excusable
    if not real.any():
        return Comparison("arithmetic", why="overflow at the edge of the dtype's range")

    def near(value: np.ndarray, goal: np.ndarray) -> bool:
        v, g = value[real], goal[real]
        with np.errstate(all="ignore"):
            alike = np.where(np.isfinite(g), np.isfinite(v), (v == g) | (np.isnan(v) & np.isnan(g)))
            return bool(np.all(alike | (np.isfinite(g) & (np.abs(g) > limit) & ~np.isnan(v))))

    side, w = _blame(question, name, x, y, z, near)
    index = first(real)
    said = repr(w[index].item()) if w is not None else ""
    found = _found("nonfinite", side, name, index, x, y, said, math.inf, real)
    if side != "candidate":
        return found
    scale = _scale(question, name, dtype, truth)
    return _with_policy(found, identify(name, y, z, truth.sensitivity[name], scale, bound(x.size), question.rounded))


def _scale(question: Question, name: str, dtype: DType, truth: Truth) -> np.ndarray:
    """The size of ordinary rounding of each element."""
    z, s = truth.values[name], truth.sensitivity[name]
    with np.errstate(all="ignore"):
        return dtype.roundoff * (np.abs(z) + s + rms(z)) * question.growth + dtype.tiny


def _ratios(question, name, dtype, x, y, truth: Truth) -> Comparison:
    """Error ratios of both sides against the float64 run."""
    z, s = truth.values[name], truth.sensitivity[name]
    scale = _scale(question, name, dtype, truth)
    with np.errstate(all="ignore"):
        error_x, error_y = np.abs(x - z) / scale, np.abs(y - z) / scale
        between = np.abs(x - y) / scale
    limit = bound(x.size)
    rho_x, rho_y = worst(error_x), worst(error_y)
    if rho_x <= limit and rho_y <= limit:
        return Comparison("same", rho_y)
    if worst(between) <= limit:
        return Comparison("arithmetic", rho_y, why=f"both sides are equally far from float64 (ratio {rho_y:.3g})")
    rho = max(rho_x, rho_y)
    if rho <= CERTAIN * limit and not _formula(question, name, dtype, x, y, z, scale):
        # A reference that is a little off does not make the candidate's own small error remarkable.
        why = f"ratio {rho:.3g}, between the bound {limit:.3g} and {CERTAIN:g} times it"
        return Comparison("same" if rho_y <= limit else "arithmetic", rho_y, why=why)
    # In the grey band the error is small, so that a side counts as right only within the bound itself.
    most = limit if rho <= CERTAIN * limit else CERTAIN * limit

    def near(value: np.ndarray, goal: np.ndarray) -> bool:
        with np.errstate(all="ignore"):
            return worst(np.abs(value - goal) / scale) <= most

    side, w = _blame(question, name, x, y, z, near)
    z = w if w is not None else z
    with np.errstate(all="ignore"):
        guilty = np.abs((x if side == "reference" else y) - z) / scale
    policy = ""
    if side == "candidate":
        policy = identify(name, y, z, s, scale, most, question.rounded)
    index = first(guilty == np.nanmax(guilty))
    found = _found("value", side, name, index, x, y, repr(z[index].item()), worst(guilty), guilty > most)
    return _with_policy(found, policy)


def _formula(question: Question, name: str, dtype: DType, x, y, z, scale) -> bool:
    """Does a small difference stay in float64? Then it is another formula and not rounding (section 5.5)."""
    wide = question.wide()
    w = None if wide is None else wide.get(name)
    if w is None or w.shape != z.shape or dtype.roundoff <= DOUBLE:
        return False
    with np.errstate(all="ignore"):
        narrow, broad = rms(x - y), rms(w - z)
        # What a float32 constant inside a float64 kernel explains says nothing.
        real = bool(np.any(np.abs(w - z) > explained(z, question.reach)))
    if not real or not narrow:
        return False
    return math.log2(narrow / broad) <= LADDER * math.log2(dtype.roundoff / DOUBLE)


def explained(values: np.ndarray, reach: int) -> np.ndarray:
    """What a float32 constant inside a float64 kernel explains, or a position, which moves a value to its neighbours'."""
    size = np.abs(values) + rms(values)
    if reach > 1:
        size = np.maximum(size, STEEPEST * reach * np.max(np.abs(values), initial=0.0, where=np.isfinite(values)))
    return 2.0 * SINGLE * size


def _found(symptom, side, name, index, x, y, truth, ratio, differs) -> Comparison:
    absolute = largest_gap(x, y)
    where = f"{name}{list(index)}" if index else name
    left, right = repr(x[index].item()), repr(y[index].item())
    known = f", float64 says {truth}" if truth else ""
    detail = f"{where}: {left} on the reference, {right} on the candidate{known}"
    wrong = int(np.count_nonzero(differs))
    found = Divergence(symptom, side, name, index, left, right, truth, ratio, absolute, wrong, int(x.size), detail)
    return Comparison("diverges", ratio, found)


def _symptom(left: complex, right: complex) -> str:
    return "value" if bool(np.isfinite(left)) == bool(np.isfinite(right)) else "nonfinite"


def loosest(kinds: Sequence[str]) -> str:
    """The class of a program of several steps."""
    order = ("exact", "index", "rounded", "faithful", "reduction", "iterative", "random")
    return max(kinds, key=order.index) if kinds else "exact"


def allowance(question: Question, name: str, dtype: DType) -> float:
    """Largest absolute difference from the float64 value that rounding explains, for a check in a script.

    Args:
        question: the comparison.
        name: the output.
        dtype: its dtype.

    Returns:
        `CERTAIN` times `bound` times the largest rounding scale of the output; 0 where bit equality is due or no
        float64 run exists.
    """
    if not dtype.inexact or question.kind in ("exact", "index"):
        return 0.0
    truth = question.truth()
    if truth is None or name not in truth.values or not truth.values[name].size:
        return 0.0
    z, s = truth.values[name], truth.sensitivity[name]
    second = question.second()
    if second is not None and second.get(name, np.empty(0)).shape == z.shape:
        # The reference may be the wrong side; the expected value then comes from here too.
        z = second[name]
    finite = np.isfinite(z) & np.isfinite(s)
    if not finite.any():
        return 0.0
    scale = float(np.max((np.abs(z) + s)[finite])) + rms(z)
    return CERTAIN * bound(z.size) * dtype.roundoff * scale * question.growth
