"""The verdict on one seam: both sides' values, with float64 runs of both and the reference's sensitivity where asked for.

The first pass only screens: what rounding may do to the values of such a unit. What it cannot excuse is judged in a
second pass with float64 copies of both models in lockstep (`compare.verdict`), which also tells a wrong formula from
rounding: it stays in float64.
"""

from __future__ import annotations

import math

import msgspec
import numpy as np

from minrepro.align.seams import NUDGES, Seam
from minrepro.compare import sensitivity
from minrepro.compare.magnitude import rms
from minrepro.compare.verdict import DOUBLE, SINGLE, Question, Truth, bound, judge
from minrepro.ir.divergence import Comparison, Divergence
from minrepro.ir.outcome import Completed
from minrepro.ir.tensor import Tensor

EXPLODES = 10.0
"""Sensitivity over size from which an element is called ill-conditioned: it loses a digit of its inputs."""
OWNS = 0.5
"""Share of a sum from which one row owns it."""
VISIBLE = 2.0
"""A difference in float64 of more than this many float32 roundings is no constant that was kept in float32."""
HIDDEN = 1e4
"""A difference in float64 of less than this many float64 roundings is rounding."""
GROSS = 0.01
"""Difference over size (RMS) from which values are arranged or meant otherwise; far above what `half_alike` lets pass."""
EXCUSED = 2.0
"""Roundings of one element that the screen excuses, times the root of the number of terms. Legal kernels of one operator
stay below 1.2 of them (the design note on reduction, 5.2); a unit may hold several operators."""


class Judged(msgspec.Struct):
    """The verdict on one tensor of one seam.

    Attributes:
        unit, call, part, maker, maker_call, label, lines, spans: as in `Seam`.
        comparison: the verdict.
        absolute: largest absolute difference.
        ulp: the same in units in the last place of the largest element of the reference.
        shape, dtypes: of the tensor, and its dtype on both sides.
        wide: relative difference of the float64 copies (RMS), None if there are none.
        condition: largest sensitivity of an element over its size.
        rows: sentences on the rows that dominate and lose digits, with what the unit was called with there.
    """

    unit: int
    call: int
    part: str
    maker: int
    label: str
    lines: dict[str, tuple[str, int]]
    comparison: Comparison
    absolute: float
    ulp: float
    shape: tuple[int, ...]
    dtypes: tuple[str, str]
    wide: float | None = None
    condition: float = 0.0
    reference: Tensor | None = None
    candidate: Tensor | None = None
    maker_call: int = 0
    spans: tuple[tuple[str, int, int], ...] = ()
    rows: tuple[str, ...] = ()


def screen(x: Tensor, y: Tensor | None, length: int) -> bool:
    """True if rounding alone explains the difference: the cheap test that needs no other run.

    Args:
        x, y: the tensors; None if the port has none.
        length: terms that one element adds up.
    """
    if y is None or x.shape != y.shape or x.dtype != y.dtype:
        return False
    a, b = x.view, y.view
    if a.size == 0 or np.array_equal(a, b):
        return True
    if x.dtype.kind != "float" or x.dtype.name == "bfloat16":
        return False
    with np.errstate(all="ignore"):
        gap = np.max(np.abs(a - b))
        size = math.sqrt(float(np.dot(a.reshape(-1), a.reshape(-1))) / a.size) if a.flags.c_contiguous else float(
            np.sqrt(np.mean(np.square(a, dtype=np.float64))))
        limit = x.dtype.roundoff * math.sqrt(max(length, 1)) * EXCUSED
        if gap <= limit * size:
            return True
        return bool(np.all(np.abs(a - b) <= limit * (np.abs(a) + size)))


def judged(seam: Seam, position: int, length: int) -> Judged:
    """The verdict on one tensor of a seam.

    Args:
        seam: the seam.
        position: which tensor.
        length: terms that one element adds up.
    """
    x, label = seam.reference[position], named(seam.labels[position], seam.part)
    held = {role: values[position] for role, values in seam.others.items() if position < len(values)}
    y = held.get("candidate")
    absolute, ulp = errors(x, y)
    dtypes = (x.dtype.name, y.dtype.name if y else "none")
    base = dict(unit=seam.unit, call=seam.call, part=seam.part, maker=seam.maker, maker_call=seam.maker_call, label=label,
                lines=seam.lines, spans=seam.spans, absolute=absolute, ulp=ulp, shape=x.shape, dtypes=dtypes)
    if y is None:
        if seam.part == "in":
            return Judged(comparison=Comparison("same", why=f"the port takes no {label}"), **base)
        found = Divergence("structure", "candidate", label, (), "a tensor", "nothing", "", math.inf,
                           detail=f"the port returns no tensor {seam.labels[position] or 0}")
        return Judged(comparison=Comparison("diverges", math.inf, found), **base)
    if x.dtype != y.dtype and x.shape == y.shape:
        return Judged(comparison=_dtypes(x, y, label), **base)
    truth, wide = _truth(held, x), held.get("wide")
    if truth is None and screen(x, y, length):
        return Judged(comparison=Comparison("same"), **base)
    known = wide is not None and wide.shape == x.shape
    broad = _inside(wide.values, y) if known else None
    question = Question(
        "reduction", length, (label,), lambda: truth and Truth({label: truth[0]}, {label: truth[1]}, "float64 reference"),
        wide=lambda: {label: broad} if known else None,
    )
    comparison = judge(question, Completed({label: x}), Completed({label: y}))
    if comparison.verdict == "unresolved":
        comparison = unaided(x, y, label)
    gap, condition, rows = None, 0.0, ()
    if truth is not None and x.dtype.inexact:
        condition = _condition(*truth)
        rows = _amplified(seam, *truth)
        if known:
            gap, formula = _formula(truth, broad)
            if formula and comparison.verdict in ("same", "arithmetic"):
                comparison = _formulas(label, x, y, truth[0], broad, gap)
    return Judged(comparison=comparison, wide=gap, condition=condition, rows=rows, reference=x, candidate=y, **base)


def named(label: str, part: str) -> str:
    """What a tensor is called: a parameter by its name; a result by its number, or as the result."""
    if part == "in":
        return label
    return f"result {label}" if label[:1].isdigit() else label or "the result"


def half_alike(a: np.ndarray, b: np.ndarray, roundoff: float) -> np.ndarray:
    """Where two arrays agree in half of their digits, measured at the element and the array's own size.

    Args:
        a, b: wide values of one shape.
        roundoff: of the narrower dtype; 0 asks for equality.
    """
    with np.errstate(all="ignore"):
        near = np.abs(a - b) <= roundoff**0.5 * (np.abs(a) + rms(a))
        return (a == b) | (np.isnan(a) & np.isnan(b)) | near


def gross(found: Judged) -> bool:
    """True for a difference that no precision and no other constant makes: of another shape, or as large as `GROSS` says."""
    told = found.comparison.divergence
    if told is None:
        return False
    if told.symptom != "value" or found.reference is None or found.candidate is None:
        return True
    with np.errstate(all="ignore"):
        gap = found.reference.values - found.candidate.values
    return not np.isfinite(gap).all() or rms(gap) > GROSS * rms(found.reference.values)


def unaided(x: Tensor, y: Tensor, label: str) -> Comparison:
    """The verdict where no float64 run helps (the model cannot be copied, or the dtypes differ): by size alone.

    Rounding may take half of the digits; beyond that two sides do not compute the same.
    """
    a, b = x.values, y.values
    same = half_alike(a, b, max(x.dtype.roundoff, y.dtype.roundoff))
    with np.errstate(all="ignore"):
        gap = np.where(same, 0.0, np.abs(a - b))
    if same.all():
        return Comparison("arithmetic", why=f"{label or 'the output'} is judged by its size alone, without a float64 run")
    index = tuple(int(i) for i in np.unravel_index(int(np.argmin(same)), same.shape))
    left, right = str(a[index]), str(b[index])
    detail = f"{label}{list(index)}: {left} on the reference, {right} on the candidate"
    found = Divergence("value", "candidate", label, index, left, right, "", math.inf, float(np.nanmax(gap)),
                       int(np.count_nonzero(~same)), same.size, detail)
    return Comparison("diverges", math.inf, found)


def overwritten(seam: Seam) -> list[Judged]:
    """The verdicts on inputs that only the port writes to, where that changes them: its caller goes on with other values."""
    found = []
    for label, x, y in seam.overwritten:
        if screen(x, y, 1):
            continue
        absolute, ulp = errors(x, y)
        told = Divergence("value", "candidate", label, (), "left as it is", "overwritten", "", math.inf, absolute,
                          detail=f"the port overwrites {label}, which the reference leaves as it is")
        found.append(Judged(
            seam.unit, seam.call, "out", seam.maker, label, seam.lines, Comparison("diverges", math.inf, told), absolute, ulp,
            x.shape, (x.dtype.name, y.dtype.name), reference=x, candidate=y, maker_call=seam.maker_call, spans=seam.spans,
        ))
    return found


def _inside(values: np.ndarray, own: Tensor) -> np.ndarray:
    """Float64 values of a run that saw the largest number of its own dtype (the fill of a mask) where `own` saw its."""
    if not own.dtype.inexact or values.dtype != np.float64 or own.dtype.name == "float64":
        return values
    limit = float(np.finfo(own.dtype.name if own.dtype.name == "float16" else "float32").max)
    with np.errstate(all="ignore"):
        beyond = (np.abs(values) > limit) & np.isfinite(values) & np.isfinite(own.values)
    return np.where(beyond, own.values, values) if beyond.any() else values


def _dtypes(x: Tensor, y: Tensor, label: str) -> Comparison:
    """Another dtype on each side; integers of another width that hold the same numbers are the same."""
    kinds = {x.dtype.kind, y.dtype.kind}
    if kinds <= {"int", "uint", "bool"} and x.shape == y.shape and np.array_equal(x.view, y.view):
        return Comparison("same", why=f"{label} is {x.dtype.name} here and {y.dtype.name} there, with equal values")
    left, right = x.dtype.name, y.dtype.name
    if x.dtype.inexact and y.dtype.inexact:
        values = unaided(x, y, label)
        if values.verdict == "diverges":
            return values  # no precision explains it
    detail = f"dtype of {label or 'the output'}: {left} on the reference, {right} on the candidate"
    found = Divergence("dtype", "candidate", label, (), left, right, "", math.inf, detail=detail)
    return Comparison("diverges", math.inf, found)


def _truth(held: dict[str, Tensor | None], x: Tensor) -> tuple[np.ndarray, np.ndarray] | None:
    """Float64 values of the reference, and how far rounding of the inputs moves them."""
    base = held.get("truth")
    if base is None:
        return None
    if not base.dtype.inexact or base.shape != x.shape:
        return base.values, np.zeros(base.shape)
    values = _inside(base.values, x)
    moved = [_inside(m.values, x) for role in NUDGES if (m := held.get(role)) is not None and m.shape == base.shape]
    return values, sensitivity.sampled(values, moved) if moved else np.zeros(base.shape)


def _condition(z: np.ndarray, s: np.ndarray) -> float:
    """The largest ratio of sensitivity to size among the elements of ordinary size; near zero it says nothing."""
    sizes = np.abs(z)
    with np.errstate(all="ignore"):
        finite = np.isfinite(z)
        middle = np.median(sizes[finite]) if finite.any() else math.inf
        fine = finite & np.isfinite(s) & (sizes > 0) & (sizes >= middle)
        ratio = s[fine] / sizes[fine]
    return float(ratio.max()) if ratio.size else 0.0


def _amplified(seam: Seam, z: np.ndarray, s: np.ndarray) -> tuple[str, ...]:
    """Rows of a result per row (a loss) that own its sum and move by much more than their inputs do.

    Such a row is compared by its relative error, and the mean over the rows says nothing about two sides.
    """
    if z.ndim != 1 or z.size < 2 or seam.part == "in" or not np.isfinite(z).all():
        return ()
    total = float(np.abs(z).sum())
    if not total:
        return ()
    with np.errstate(all="ignore"):
        share, factor = np.abs(z) / total, s / np.abs(z)
    rows = np.flatnonzero((share > OWNS) & (factor > EXPLODES))
    told = []
    for row in sorted(rows, key=lambda i: -share[i])[:3]:
        asked = [
            f"{name} = {tensor.view.reshape(-1)[row]}" for name, tensor in seam.inputs.items()
            if tensor.shape == z.shape and tensor.dtype.kind in ("int", "uint")
        ]
        where = f" ({', '.join(asked)})" if asked else ""
        told.append(f"row {row}{where} is {z[row]:.3g}, owns {share[row]:.0%} of the sum and moves by {factor[row]:.3g} "
                    "times a relative change of its inputs")
    return tuple(told)


def _formula(truth: tuple[np.ndarray, np.ndarray], w: np.ndarray) -> tuple[float, bool]:
    """(relative RMS difference of the float64 copies, whether it is another formula)."""
    z, s = truth
    fine = np.isfinite(z) & np.isfinite(w)
    if not fine.any():
        return 0.0, False
    with np.errstate(all="ignore"):
        gap = float(np.sqrt(np.mean((w - z)[fine] ** 2)))
        size = float(np.sqrt(np.mean((np.abs(z) + s)[fine] ** 2)))
    if not size:
        return gap, gap > 0
    return gap / size, gap > VISIBLE * SINGLE * size


def hidden(found: Judged) -> bool:
    """True if the float64 copies differ by more than rounding, though by less than a float32 constant could."""
    return found.wide is not None and HIDDEN * DOUBLE < found.wide


def _formulas(label: str, x: Tensor, y: Tensor, z: np.ndarray, w: np.ndarray, gap: float) -> Comparison:
    worst = np.unravel_index(int(np.nanargmax(np.abs(w - z))), z.shape)
    index = tuple(int(i) for i in worst)
    left, right = repr(float(z[worst])), repr(float(w[worst]))
    detail = f"{label}{list(index)}: {left} against {right} in float64 on both sides: another formula, not rounding"
    found = Divergence("value", "candidate", label, index, left, right, left, bound(z.size), float(np.nanmax(np.abs(w - z))),
                       int(np.count_nonzero(np.abs(w - z) > HIDDEN * DOUBLE * np.abs(z))), z.size, detail)
    return Comparison("diverges", bound(z.size), found)


def errors(x: Tensor, y: Tensor | None) -> tuple[float, float]:
    """Largest absolute difference, and the same in ULP of the reference's largest element."""
    if y is None or x.shape != y.shape or not x.size:
        return (math.inf if y is None or x.shape != y.shape else 0.0), 0.0
    with np.errstate(all="ignore"):
        a, b = (x.view, y.view) if x.dtype.name != "bfloat16" and x.dtype == y.dtype else (x.values, y.values)
        # Looking for NaN costs more than the comparison itself, and most seams have none.
        if np.array_equal(a, b) or x.dtype.inexact and np.isnan(a).any() and np.array_equal(a, b, equal_nan=True):
            return 0.0, 0.0
        absolute = _largest(a - b if x.dtype.inexact else a.astype(np.float64) - b.astype(np.float64), math.inf)
        largest = _largest(a, 0.0) if x.dtype.inexact else 0.0
    if not x.dtype.inexact or not largest:
        return absolute, 0.0
    return absolute, absolute / (2.0 ** math.floor(math.log2(largest)) * 2 * x.dtype.roundoff)


def _largest(values: np.ndarray, none: float) -> float:
    """The largest finite magnitude; `none` where nothing is finite."""
    magnitudes = np.abs(values)
    largest = float(magnitudes.max())
    if math.isfinite(largest):
        return largest
    finite = magnitudes[np.isfinite(magnitudes)]
    return float(finite.max()) if finite.size else none
