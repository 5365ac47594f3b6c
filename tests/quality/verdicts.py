"""``python -m tests.quality.verdicts [--json]``: the verdict against fixed tolerances on labelled kernel pairs.

A pair is two kernels of one operator on one data set. Its label holds by construction: the second kernel is a legal
order of the same computation, or it is wrong, or it rounds to a narrower format. A wrong kernel counts on the data
where its float32 bits differ from the right ones and its float64 result does by more than `VISIBLE` of its size.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from functools import cache, partial
from typing import Callable, Iterator

import msgspec
import numpy as np

from minrepro.compare import sensitivity
from minrepro.compare.policy import FORMATS, Format, rounded
from minrepro.compare.twin import twin
from minrepro.compare.verdict import Question, Truth, judge
from minrepro.ir.dtype import dtype
from minrepro.ir.outcome import Completed
from minrepro.ir.tensor import Tensor

from .kernels import Kernel, Operator
from .operators import OPERATORS

VISIBLE = 2.0**-40
"""Relative size in float64 from which a wrong kernel is wrong."""
DATA: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "normal": lambda x: x,
    "positive": lambda x: np.abs(x) + 0.1,
    "offset 100": lambda x: x + 100.0,
    "offset 1e4": lambda x: x + 1e4,
    "tiny": lambda x: x * 1e-6,
    "huge": lambda x: x * 1e12,
}
TARGETS = {"false alarms": 0, "missed": 2, "policies called bugs": 2}
"""Most of each that our verdict may have."""


class Pair(msgspec.Struct, frozen=True):
    """One labelled pair of kernels on one data set."""

    operator: Operator
    data: str
    variant: str
    label: str
    kernel: Kernel

    @property
    def name(self) -> str:
        """For the report."""
        return f"{self.operator.name} / {self.variant} / {self.data}"

    def inputs(self, of: str = "float32") -> list[np.ndarray]:
        """The float32 values, widened if asked for."""
        return [value.astype(of) for value in _inputs(self.operator.name, self.data)]


@cache
def _inputs(name: str, data: str) -> tuple[np.ndarray, ...]:
    operator = next(o for o in OPERATORS if o.name == name)
    random = np.random.RandomState(sum(map(ord, name + data)))
    values = [random.standard_normal(shape) for shape in operator.inputs]
    return tuple((v if i in operator.fixed else DATA[data](v)).astype(np.float32) for i, v in enumerate(values))


def pairs() -> Iterator[Pair]:
    """Every labelled pair."""
    for operator in OPERATORS:
        for data in DATA:
            for variant, kernel in operator.legal.items():
                yield Pair(operator, data, variant, "legal", kernel)
            for variant, kernel in operator.faults.items():
                pair = Pair(operator, data, variant, "fault", kernel)
                if _visible(pair):
                    yield pair
            # Huge data do not fit into float16: that is an overflow and not a rounding.
            for to in FORMATS if operator.narrow else ():
                if data == "huge" and to.storage:
                    continue
                for variant, kernel in _narrow(operator, to).items():
                    yield Pair(operator, data, variant, "policy", kernel)


def _visible(pair: Pair) -> bool:
    with np.errstate(all="ignore"):
        right, wrong = (np.asarray(kernel(*pair.inputs("float64"))) for kernel in (pair.operator.plain, pair.kernel))
        apart = np.abs(right - wrong)
        if np.array_equal(pair.operator.plain(*pair.inputs()), pair.kernel(*pair.inputs()), equal_nan=True):
            return False
        return bool(np.any(apart > VISIBLE * np.sqrt(np.mean(right**2))))


def _narrow(operator: Operator, to: Format) -> dict[str, Kernel]:
    def cut(x: np.ndarray) -> np.ndarray:
        return rounded(x.astype(np.float64), to).astype(x.dtype)

    plain = operator.plain
    made: dict[str, Kernel] = {f"{to.name} inputs": lambda *a: plain(*map(cut, a))}
    if to.name != "TF32":
        made[f"{to.name} outputs"] = lambda *a: cut(plain(*a))
        made[f"{to.name} inputs and outputs"] = lambda *a: cut(plain(*map(cut, a)))
    return made


# -- the criteria ---------------------------------------------------------------------------------------------


class Seen(msgspec.Struct, frozen=True):
    """What the criteria look at: both float32 results and the float64 one."""

    pair: Pair
    x: np.ndarray
    y: np.ndarray
    z: np.ndarray


def observe(pair: Pair) -> Seen:
    """Run both kernels."""
    with np.errstate(all="ignore"):
        plain = pair.operator.plain
        return Seen(
            pair,
            np.asarray(plain(*pair.inputs())),
            np.asarray(pair.kernel(*pair.inputs())),
            np.asarray(plain(*pair.inputs("float64"))),
        )


def ours(seen: Seen) -> str:
    """``same``, ``bug`` or ``policy``: the product's own verdict, and its float64 twin where that one says same."""
    pair = seen.pair
    found = judge(_question(pair, "float32"), _completed(seen.x), _completed(seen.y))
    if found.verdict == "same" and found.ratio > 0:
        with np.errstate(all="ignore"):
            wide = _completed(np.asarray(pair.kernel(*pair.inputs("float64"))))
        found = twin(_question(pair, "float64"), _completed(seen.z), wide) or found
    if found.verdict != "diverges" or found.divergence is None:
        return "same"
    return "policy" if found.divergence.policy else "bug"


def _completed(value: np.ndarray) -> Completed:
    return Completed({"out": Tensor(np.ascontiguousarray(value), dtype(value.dtype.name))})


def _question(pair: Pair, of: str) -> Question:
    operator, inputs = pair.operator, pair.inputs("float64")

    def run(kernel: Kernel, values: list[np.ndarray]) -> dict[str, np.ndarray]:
        with np.errstate(all="ignore"):
            return {"out": np.asarray(kernel(*values))}

    def truth() -> Truth:
        base = run(operator.plain, inputs)["out"]
        if operator.factors:
            squares = [sensitivity.squared(value, part) for part, value in enumerate(inputs)]
            spread = sensitivity.exact(run(operator.plain, squares)["out"])
        else:
            random = np.random.RandomState(0)
            moved = [
                run(operator.plain, [v * (1 + sensitivity.NUDGE * random.standard_normal(v.shape)) for v in inputs])[
                    "out"
                ]
                for _ in range(sensitivity.SAMPLES)
            ]
            spread = sensitivity.sampled(base, moved)
        return Truth({"out": base}, {"out": spread}, "float64 NumPy")

    return Question(
        operator.kind,
        operator.length,
        ("out",),
        truth,
        wide=lambda: run(pair.kernel, inputs),
        rounded=lambda to: [run(operator.plain, [rounded(v, to) for v in inputs])],
    )


def close(seen: Seen, rtol: float, atol: float) -> str:
    """A fixed tolerance."""
    with np.errstate(all="ignore"):
        x, y = seen.x.astype(np.float64), seen.y.astype(np.float64)
        good = (np.abs(x - y) <= atol + rtol * np.abs(x)) | (x == y) | (np.isnan(x) & np.isnan(y))
    return "same" if good.all() else "bug"


def rmse(seen: Seen, tolerance: float = 1e-4) -> str:
    """The rule of torch's accuracy minifier: within a tolerance, or not much farther off than the reference."""
    if close(seen, tolerance, tolerance) == "same":
        return "same"
    with np.errstate(all="ignore"):
        mine, theirs = (float(np.sqrt(np.mean((v.astype(np.float64) - seen.z) ** 2))) for v in (seen.y, seen.x))
    return "same" if mine <= 2.0 * theirs + tolerance / 10.0 else "bug"


CRITERIA: dict[str, Callable[[Seen], str]] = {
    "ours": ours,
    "torch assert_close, float32 defaults": partial(close, rtol=1.3e-6, atol=1e-5),
    "numpy allclose, defaults": partial(close, rtol=1e-5, atol=1e-8),
    "rtol 1e-2, atol 1e-3": partial(close, rtol=1e-2, atol=1e-3),
    "torch same(), tolerance 1e-4": rmse,
}


class Score(msgspec.Struct):
    """One line of the table; the lists name the pairs."""

    criterion: str
    false_alarms: list[str] = []
    missed: list[str] = []
    policies_called_bugs: list[str] = []

    def met(self) -> bool:
        """True if our targets hold."""
        most = TARGETS.values()
        return all(len(a) <= b for a, b in zip((self.false_alarms, self.missed, self.policies_called_bugs), most))


def bench(criteria: dict[str, Callable[[Seen], str]] = CRITERIA) -> tuple[list[Score], Counter[str]]:
    """Judge every pair by every criterion; the count is by label."""
    scores = {name: Score(name) for name in criteria}
    labels: Counter[str] = Counter()
    for pair in pairs():
        labels[pair.label] += 1
        seen = observe(pair)
        for name, criterion in criteria.items():
            answer, score = criterion(seen), scores[name]
            if pair.label == "legal" and answer != "same":
                score.false_alarms.append(pair.name)
            elif pair.label == "fault" and answer != "bug":
                score.missed.append(pair.name)
            elif pair.label == "policy" and answer == "bug":
                score.policies_called_bugs.append(pair.name)
    return list(scores.values()), labels


def main() -> int:
    """Run the command; status 1 if our verdict misses its targets."""
    parser = argparse.ArgumentParser(prog="python -m tests.quality.verdicts", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    options = parser.parse_args()
    began = time.monotonic()
    scores, labels = bench()
    seconds = time.monotonic() - began
    if options.json:
        print(
            json.dumps(
                {"labels": labels, "seconds": seconds, "scores": [msgspec.to_builtins(s) for s in scores]}, indent=1
            )
        )
        return 0 if scores[0].met() else 1
    print(
        f"{sum(labels.values())} pairs: {labels['legal']} legal, {labels['fault']} faults, {labels['policy']} policies"
    )
    print(f"{'criterion':<40} {'false alarms':>13} {'missed':>8} {'policies called bugs':>21}")
    for s in scores:
        print(f"{s.criterion:<40} {len(s.false_alarms):>13} {len(s.missed):>8} {len(s.policies_called_bugs):>21}")
    for kind in ("false_alarms", "missed", "policies_called_bugs"):
        for name in getattr(scores[0], kind):
            print(f"ours, {kind.replace('_', ' ')}: {name}")
    print(f"{seconds:.1f} s")
    return 0 if scores[0].met() else 1


if __name__ == "__main__":
    sys.exit(main())
