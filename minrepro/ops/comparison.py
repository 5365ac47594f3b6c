"""Comparisons, tests of single numbers, logic, and the choice between two values."""

from __future__ import annotations

from minrepro.ops.absent import absent
from minrepro.ops.promote import promoted
from minrepro.ops.row import Op, Spelling, op
from minrepro.ops.sample import boolean, integers, normal, values

PAIRS = [
    dict(self=integers(2, 3), other=integers(3, seed=1)),
    dict(self=normal(2, 1), other=normal(1, 3, seed=1)),
    dict(self=integers(2, 3), other=2),
    dict(self=integers(2, 3), other=normal(3, seed=1)),
]
ODD = [
    dict(self=values([1.0, float("nan"), float("inf"), float("-inf"), 0.0, -0.0])),
    dict(self=values([[1.0, float("nan")], [float("inf"), float("-inf")]], "float64")),
]
INFINITY = "float('inf')"


def _compared(name: str, operator: str, why: str = "") -> Op:
    """One of Python's six comparisons."""
    text = f"self {operator} other"
    return op(
        f"{name}(self, other)", kind="exact", dims="broadcast", samples=PAIRS, why=why,
        torch=text, paddle=promoted(text), numpy=text,
    )


def _test(name: str, numpy: str = "", **own: Spelling) -> Op:
    """A test of each element for a special number."""
    spellings = {"torch": f"torch.{name}(self)", "paddle": f"paddle.{name}(self)", "numpy": numpy or f"np.{name}(self)"}
    return op(f"{name}(self)", kind="exact", samples=ODD, **{**spellings, **own})


def _logic(name: str) -> Op:
    call = f"{name}(self, other)"
    return op(
        call, kind="exact", dims="broadcast",
        torch=f"torch.{call}", paddle=promoted(f"paddle.{call}"), numpy=f"np.{call}",
        samples=[dict(self=boolean(2, 3), other=boolean(3, seed=1)), dict(self=normal(2, 3), other=boolean(3))],
    )


NAN = "OneFlow 0.9 answers True where a float32 operand is nan"

OPS = (
    _compared("eq", "=="),
    _compared("ne", "!="),
    _compared("lt", "<"),
    _compared("le", "<="),
    _compared("gt", ">", NAN),
    _compared("ge", ">=", NAN),
    _test("isnan"),
    _test("isinf"),
    _test("isfinite"),
    _test("isposinf", oneflow=f"self == {INFINITY}"),
    _test("isneginf", oneflow=f"self == -{INFINITY}"),
    _test("isreal", oneflow=absent("OneFlow", "isreal")),
    _test("signbit", oneflow=absent("OneFlow", "signbit")),
    op(
        "isclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False)",
        kind="exact",
        dims="broadcast",
        torch="torch.isclose(self, other, rtol=rtol, atol=atol, equal_nan=equal_nan)",
        paddle="paddle.isclose(self, other, rtol=rtol, atol=atol, equal_nan=equal_nan)",
        numpy="np.isclose(self, other, rtol=rtol, atol=atol, equal_nan=equal_nan)",
        samples=[
            dict(self=normal(2, 3), other=normal(2, 3)),
            dict(self=normal(2, 3), other=normal(2, 3, seed=1), rtol=0.5, atol=0.1),
            dict(ODD[0], other=values([2.0, float("nan"), float("inf"), float("-inf"), 0.0, 1.0]), equal_nan=True),
        ],
        why="Paddle does not broadcast here and calls any finite or infinite number close to infinity",
    ),
    op(
        "isin(elements, test_elements, assume_unique=False, invert=False)",
        kind="exact",
        torch="torch.isin(elements, test_elements, invert=invert)",
        paddle="paddle.isin(elements, test_elements, invert=invert)",
        oneflow=absent("OneFlow", "isin"),
        numpy="np.isin(elements, test_elements, invert=invert)",
        samples=[
            dict(elements=integers(2, 3), test_elements=integers(2, seed=1)),
            dict(elements=integers(2, 3), test_elements=integers(2, seed=1), invert=True),
        ],
    ),
    _logic("logical_and"),
    _logic("logical_or"),
    _logic("logical_xor"),
    op(
        "logical_not(self)",
        kind="exact",
        torch="torch.logical_not(self)", paddle="paddle.logical_not(self)", numpy="np.logical_not(self)",
        samples=[dict(self=boolean(2, 3)), dict(self=integers(2, 3))],
    ),
    op(
        "where(condition, self, other)",
        kind="exact",
        dims="broadcast",
        torch="torch.where(condition, self, other)",
        paddle=promoted("paddle.where(condition, self, other)", every=True),
        oneflow=promoted("flow.where(condition, self, other)", "oneflow", every=True),
        numpy="np.where(condition, self, other)",
        samples=[
            dict(condition=boolean(2, 3), self=normal(2, 3), other=normal(2, 3, seed=1)),
            dict(condition=boolean(2, 3), self=normal(3), other=normal(2, 1, seed=1)),
            dict(condition=boolean(2, 3), self=normal(2, 3), other=integers(2, 3)),
            dict(condition=boolean(2, 3), self=normal(2, 3, of="float64"), other=0.0),
            dict(condition=boolean(2, 3), self=1.0, other=0.0),
            dict(condition=boolean(2, 3), self=integers(2, 3), other=7),
        ],
        why="OneFlow 0.9 gives float64 where one value is a number and the other a float32 tensor",
    ),
)
