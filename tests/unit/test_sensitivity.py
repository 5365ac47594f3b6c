"""What an operator loses inside counts as rounding, and nothing else does."""

from __future__ import annotations

import math

import numpy as np
import pytest

from minrepro.compare import sensitivity
from minrepro.compare.verdict import Question, Truth, judge
from minrepro.ir.graph import Node, Ref
from minrepro.ir.outcome import Completed
from minrepro.ir.tensor import Tensor
from minrepro.ops.gradient import gradient

X = np.linspace(-6.0, 6.0, 241).astype(np.float32)
SCALE = math.sqrt(2.0 / math.pi)
GELU = Node("gelu", {"self": Ref("x"), "approximate": "tanh"}, ("y",))


def slope(x: np.ndarray, tanh=np.tanh) -> np.ndarray:
    """The derivative of GELU with the tangent, in the dtype of `x`, as frameworks write it."""
    c, k = x.dtype.type(SCALE), x.dtype.type(0.044715)
    t = tanh(c * (x + k * x * x * x))
    half, one = x.dtype.type(0.5), x.dtype.type(1)
    return half * (one + t) + half * x * (one - t * t) * c * (one + 3 * k * x * x)


def clamped(v: np.ndarray) -> np.ndarray:
    """A tangent that is 1 from where less than four units of the last place are missing."""
    return np.where(np.abs(v) > 7.9, np.sign(v), np.tanh(v)).astype(v.dtype)


def verdict(answer: np.ndarray, inside: bool = True) -> str:
    """Judge a float32 derivative with an incoming gradient of ones."""
    node = gradient(GELU, (Ref("dy"),), ("x",))
    wide = X.astype(np.float64)
    base = slope(wide)
    moved = [slope(wide * (1 + sensitivity.NUDGE * np.random.RandomState(i).randn(X.size))) for i in range(4)]
    feeds = {"x": Tensor(X, "float32"), "dy": Tensor(np.ones_like(X), "float32")}
    weights = np.hypot(sensitivity.sampled(base, moved), sensitivity.inside(node, feeds)["d_x"] if inside else 0.0)
    question = Question("reduction", 1, ("d_x",), lambda: Truth({"d_x": base}, {"d_x": weights}, "here"))
    right = Completed({"d_x": Tensor(base.astype(np.float32), "float32")})
    return judge(question, right, Completed({"d_x": Tensor(answer.astype(np.float32), "float32")})).verdict


def test_a_tangent_that_is_rounded_before_it_cancels_is_no_bug():
    assert verdict(slope(X, clamped), inside=False) == "diverges"
    assert verdict(slope(X, clamped)) != "diverges" and verdict(slope(X)) != "diverges"


@pytest.mark.parametrize("wrong", [
    lambda y: y * np.float32(1 + 1e-4), lambda y: np.where(X == X[120], y + np.float32(1e-4), y),
    lambda y: np.where(X < -4, 0, y), lambda y: np.where(X > 5, y + np.float32(1e-4), y),
])
def test_a_wrong_derivative_stays_one(wrong):
    assert verdict(wrong(slope(X))) == "diverges"


@pytest.mark.parametrize("op", ["gelu", "silu", "mish", "tanh", "sigmoid"])
def test_nothing_is_lost_where_the_limit_is_reached(op):
    node = gradient(Node(op, {"self": Ref("x")}, ("y",)), (Ref("dy"),), ("x",))
    x = np.array([1e12, 300.0], np.float32)
    lost = sensitivity.inside(node, {"x": Tensor(x, "float32"), "dy": Tensor(np.ones_like(x), "float32")})
    assert lost["d_x"].tolist() == [0.0, 0.0]


def test_other_operators_and_integers_lose_nothing_inside():
    x = Tensor(np.arange(3), "int64")
    assert sensitivity.inside(Node("tanh", {"self": Ref("x")}, ("y",)), {"x": x}) == {}
    assert sensitivity.inside(Node("relu", {"self": Ref("x")}, ("y",)), {"x": x.cast(Tensor(X, "float32").dtype)}) == {}


def test_one_huge_element_does_not_excuse_the_others() -> None:
    base = np.array([1e300, 1.0])
    moved = [base * (1.0 + sensitivity.NUDGE), base * (1.0 - sensitivity.NUDGE)]
    spread = sensitivity.sampled(base, moved)
    assert np.isfinite(spread).all() and spread[0] == pytest.approx(1e300, rel=0.5)
    small = sensitivity.sampled(base[1:], [m[1:] for m in moved])
    assert small[0] == pytest.approx(1.0, rel=0.5)
