"""Arithmetic and elementary functions, element by element.

`self + other` stands for both overloads, with a tensor and with a number. A function that a framework lacks is composed
from what it has only where the composition is what its users write and is as accurate.
"""

from __future__ import annotations

from minrepro.ops.absent import absent
from minrepro.ops.phrase import is_tensor
from minrepro.ops.promote import promoted, result_type
from minrepro.ops.row import Args, Op, Spelling, op
from minrepro.ops.sample import integers, normal, positive, unit, values

MATH = "import math\nout = np.vectorize(math.{}, otypes=[float])(self)"


def _unary(name: str, kind: str = "faithful", numpy: Spelling = "", draw=normal, why: str = "", **own: Spelling) -> Op:
    """A function of one tensor that torch and Paddle both call `name`."""
    spellings = {"torch": f"torch.{name}(self)", "paddle": f"paddle.{name}(self)", "numpy": numpy or f"np.{name}(self)"}
    samples = [dict(self=draw(2, 3)), dict(self=draw(5, seed=1, of="float64"))]
    return op(f"{name}(self)", kind=kind, samples=samples, why=why, **{**spellings, **own})


def _pair(*left: int, right: tuple[int, ...] = (3,), draw=normal, of: str = "float32") -> dict:
    return dict(self=draw(*left, of=of), other=draw(*right, seed=1, of=of))


PAIRS = [_pair(2, 3), _pair(2, 1, right=(1, 3), of="float64"), dict(self=normal(4), other=1.5)]
WHOLE = [dict(self=integers(2, 3, low=-5), other=integers(3, low=1, seed=1)), dict(self=integers(3), other=2)]


def _binary(name: str, kind: str, numpy: str = "", samples: list = PAIRS[:2], why: str = "", **own: Spelling) -> Op:
    """A function of two tensors that torch and Paddle both call `name`."""
    call = f"{name}(self, other)"
    spellings = {"torch": f"torch.{call}", "paddle": promoted(f"paddle.{call}"), "numpy": numpy or f"np.{call}"}
    return op(call, kind=kind, dims="broadcast", samples=samples, why=why, **{**spellings, **own})


def _infix(name: str, text: str, kind: str, samples: list, why: str = "", **own: Spelling) -> Op:
    """An operator of Python that every framework overloads."""
    spellings = {"torch": text, "paddle": promoted(text), "numpy": text}
    holes = "self, exponent" if "exponent" in text else "self, other"
    return op(f"{name}({holes})", kind=kind, dims="broadcast", samples=samples, why=why, **{**spellings, **own})


def _scaled(sign: str, function: str = "") -> Spelling:
    """``self + alpha * other``, or the call of the framework's own function when alpha is not one."""

    def spell(a: Args) -> str:
        if a.alpha == 1:
            return f"self {sign} other"
        return f"{function}(self, other, alpha=alpha)" if function else f"self {sign} alpha * other"

    return spell


def _reversed(a: Args) -> str:
    return "other - self" if a.alpha == 1 else "other - alpha * self"


def _promoted(spell: Spelling) -> Spelling:
    return lambda a: promoted(spell(a))(a)


def _torch_div(a: Args) -> str:
    return "torch.div(self, other, rounding_mode=rounding_mode)" if a.given("rounding_mode") else "self / other"


def _div(truncate: str, cast: str) -> Spelling:
    """True, floored or truncated division for a framework whose `div` does not round."""

    def spell(a: Args) -> str:
        if not a.given("rounding_mode"):
            return "self / other"
        if a.rounding_mode == "floor":
            return "self // other"
        to = result_type([a.self, a.other])
        return f"{truncate}(self / other)" + ("" if "float" in to else cast.format(to))

    return spell


def _paddle_fmod(a: Args) -> str:
    if "int" in result_type([a.self, a.other]):
        return "paddle.sign(self) * (abs(self) % abs(other))"
    return "paddle.copysign(abs(self) % abs(other), self)"


def _flow_scalar_first(text: str) -> Spelling:
    """OneFlow cannot have a number on the left of these operators."""
    refuse = absent("OneFlow", f"operator '{text}' with a number on the left")
    return lambda a: text if is_tensor(a.self) else refuse(a)


def _paddle_bound(function: str, hole: str) -> Spelling:
    return lambda a: (
        promoted(f"paddle.{function}(self, {hole})")(a) if is_tensor(getattr(a, hole))
        else f"paddle.clip(self, {hole}={hole})"
    )


def _flow_bound(function: str, hole: str) -> Spelling:
    return lambda a: (
        f"flow.{function}(self, {hole})" if is_tensor(getattr(a, hole)) else f"flow.clamp(self, {hole}={hole})"
    )


def _clamp_between(root: str) -> Spelling:
    """Bounds that are tensors: a maximum and a minimum."""

    def spell(a: Args) -> str:
        low = f"{root}.maximum(self, min)" if a.given("min") else "self"
        return f"{root}.minimum({low}, max)" if a.given("max") else low

    return spell


def _product(operator: str) -> Spelling:
    return lambda a: f"self + {'' if a.value == 1 else 'value * '}tensor1 {operator} tensor2"


def _rounded_to(root: str) -> Spelling:
    return lambda a: f"{root}.round(self, decimals=decimals)" if a.decimals else f"{root}.round(self)"


def _flow_round(a: Args) -> str:
    return absent("OneFlow", "round with decimals")(a) if a.decimals else "flow.round(self)"


ABOVE_ONE = dict(draw=lambda *shape, **kw: values(1 + positive(*shape, **kw).values, kw.get("of", "float32")))
INNER = dict(draw=lambda *shape, **kw: values(2 * unit(*shape, **kw).values - 1, kw.get("of", "float32")))
COARSE = [dict(self=values([-2.5, -1.5, -0.5, 0.0, 0.5, 1.5, 2.5])), dict(self=normal(2, 3, of="float64"))]
INTS = "OneFlow 0.9 gives float32 for integers"

OPS = (
    op(
        "add(self, other, alpha=1)",
        kind="rounded",
        dims="broadcast",
        torch=_scaled("+", "torch.add"), paddle=_promoted(_scaled("+")), numpy="self + alpha * other",
        samples=[*PAIRS, *WHOLE, dict(self=normal(3), other=integers(2, 3)), {**PAIRS[0], "alpha": 2}],
    ),
    op(
        "sub(self, other, alpha=1)",
        kind="rounded",
        dims="broadcast",
        torch=_scaled("-", "torch.sub"), paddle=_promoted(_scaled("-")), numpy="self - alpha * other",
        samples=[*PAIRS, *WHOLE, {**PAIRS[0], "alpha": 2}],
    ),
    op(
        "rsub(self, other, alpha=1)",
        kind="rounded",
        dims="broadcast",
        torch=lambda a: "other - self" if a.alpha == 1 else "torch.rsub(self, other, alpha=alpha)",
        paddle=_promoted(_reversed), oneflow=_reversed, numpy="other - alpha * self",
        samples=[PAIRS[0], PAIRS[2], {**PAIRS[0], "alpha": 2}],
    ),
    _infix("mul", "self * other", "rounded", [*PAIRS, *WHOLE, dict(self=normal(2, 3), other=integers(3))]),
    op(
        "div(self, other, rounding_mode=None)",
        kind="rounded",
        dims="broadcast",
        torch=_torch_div, numpy="self / other if rounding_mode is None else np.floor(self / other)"
        " if rounding_mode == 'floor' else np.trunc(self / other)",
        paddle=_promoted(_div("paddle.trunc", ".astype('{}')")),
        oneflow=_div("flow.trunc", ".to(flow.{})"),
        samples=[
            *PAIRS, *WHOLE, {**WHOLE[1], "rounding_mode": "floor"},
            {**PAIRS[0], "rounding_mode": "trunc"}, {**WHOLE[0], "rounding_mode": "trunc"},
        ],
        why="bool / bool stays bool in Paddle and OneFlow; OneFlow's // truncates integers",
    ),
    _infix(
        "floor_divide", "self // other", "exact",
        [dict(self=integers(2, 3), other=integers(2, 3, low=1, seed=1)), dict(self=positive(4), other=0.75)],
        oneflow=_flow_scalar_first("self // other"),
        why="OneFlow 0.9 does not broadcast here, truncates integers, floors the rounded quotient of floats, and dies"
        " of integer // 0",
    ),
    _infix(
        "remainder", "self % other", "rounded",
        [dict(self=integers(2, 3), other=integers(3, low=1, seed=1)), dict(self=positive(4), other=0.75)],
        oneflow=_flow_scalar_first("self % other"),
        why="OneFlow 0.9 takes the sign of the dividend, as C does; torch, Paddle and NumPy that of the divisor",
    ),
    _binary("fmod", "exact", samples=[PAIRS[0], PAIRS[2], *WHOLE], paddle=_paddle_fmod),
    _infix(
        "pow", "self ** exponent", "faithful",
        [
            dict(self=positive(2, 3), exponent=normal(3)), dict(self=normal(2, 3), exponent=2),
            dict(self=positive(4), exponent=0.5), dict(self=2, exponent=normal(3)),
        ],
    ),
    op(
        "float_power(self, exponent)",
        kind="faithful",
        dims="broadcast",
        torch="torch.float_power(self, exponent)", numpy="np.float_power(self, exponent)",
        paddle=lambda a: f"self.astype('{'complex128' if 'complex' in a.self.dtype else 'float64'}') ** exponent",
        oneflow="self.to(flow.float64) ** exponent",
        samples=[dict(self=positive(2, 3), exponent=1.5), dict(self=integers(3, low=1), exponent=2)],
    ),
    _unary("neg", "exact", "-self", torch="-self", paddle="-self", why=INTS),
    _unary("abs", "exact"),
    _unary("sign", "exact", why=INTS),
    _unary("sgn", "rounded", "np.sign(self)", oneflow="flow.sign(self)"),
    _unary("reciprocal", "rounded", "1 / self"),
    _unary("sqrt", "rounded", draw=positive),
    _unary("square", "rounded", why=INTS),
    _unary("rsqrt", numpy="1 / np.sqrt(self)", draw=positive),
    _unary("exp"),
    _unary("exp2", paddle="2.0 ** self", oneflow="2.0 ** self"),
    _unary("expm1"),
    _unary("log", draw=positive),
    _unary("log2", draw=positive),
    _unary("log10", draw=positive),
    _unary("log1p", draw=positive),
    _unary("sin"),
    _unary("cos"),
    _unary("tan"),
    _unary("asin", numpy="np.arcsin(self)", **INNER),
    _unary("acos", numpy="np.arccos(self)", **INNER),
    _unary("atan", numpy="np.arctan(self)"),
    _unary("sinh"),
    _unary("cosh"),
    _unary("tanh"),
    _unary("asinh", numpy="np.arcsinh(self)"),
    _unary("acosh", numpy="np.arccosh(self)", **ABOVE_ONE),
    _unary("atanh", numpy="np.arctanh(self)", **INNER),
    _unary("sigmoid", numpy="1 / (1 + np.exp(-self))"),
    _unary("erf", numpy=MATH.format("erf")),
    _unary("erfc", numpy=MATH.format("erfc"), paddle=absent("Paddle", "erfc")),
    _unary("floor", "exact"),
    _unary("ceil", "exact"),
    _unary("trunc", "exact"),
    _unary("frac", "exact", "self - np.trunc(self)", oneflow="self - flow.trunc(self)"),
    op(
        "round(self, decimals=0)",
        kind="exact",
        torch=_rounded_to("torch"), paddle=_rounded_to("paddle"), oneflow=_flow_round, numpy="np.round(self, decimals)",
        samples=COARSE,
    ),
    _unary("deg2rad", "rounded", oneflow="self * (3.141592653589793 / 180)"),
    _unary("rad2deg", "rounded", oneflow="self * (180 / 3.141592653589793)"),
    _unary("sinc", oneflow=absent("OneFlow", "sinc")),
    _binary(
        "atan2", "faithful", "np.arctan2(self, other)", why="OneFlow 0.9 does not broadcast here",
        samples=[_pair(2, 3, right=(2, 3)), _pair(4, right=(4,), of="float64")],
    ),
    _binary("hypot", "faithful", oneflow=absent("OneFlow", "hypot")),
    _binary("maximum", "exact", samples=[*PAIRS[:2], WHOLE[0]]),
    _binary("minimum", "exact", samples=[*PAIRS[:2], WHOLE[0]]),
    _binary("fmax", "exact", samples=[*PAIRS[:2], WHOLE[0]], oneflow=absent("OneFlow", "fmax")),
    _binary("fmin", "exact", samples=[*PAIRS[:2], WHOLE[0]], oneflow=absent("OneFlow", "fmin")),
    op(
        "max.other(self, other)", kind="exact", dims="broadcast", samples=PAIRS[:2],
        torch="torch.max(self, other)", paddle=promoted("paddle.maximum(self, other)"), numpy="np.maximum(self, other)",
    ),
    op(
        "min.other(self, other)", kind="exact", dims="broadcast", samples=PAIRS[:2],
        torch="torch.min(self, other)", paddle=promoted("paddle.minimum(self, other)"), numpy="np.minimum(self, other)",
    ),
    _binary("logaddexp", "faithful"),
    _binary("logaddexp2", "faithful", paddle=absent("Paddle", "logaddexp2"), oneflow=absent("OneFlow", "logaddexp2")),
    _binary("copysign", "exact", oneflow=absent("OneFlow", "copysign"), samples=PAIRS),
    _binary("nextafter", "exact", oneflow=absent("OneFlow", "nextafter")),
    _binary("gcd", "exact", samples=[dict(self=integers(2, 3, low=1), other=integers(3, low=1, seed=1)), WHOLE[0]],
            oneflow=absent("OneFlow", "gcd")),
    _binary("lcm", "exact", samples=[dict(self=integers(2, 3, low=1), other=integers(3, low=1, seed=1)), WHOLE[0]],
            oneflow=absent("OneFlow", "lcm")),
    _binary(
        "ldexp", "exact", "self * 2.0 ** other", samples=[dict(self=normal(2, 3), other=integers(3, low=-3)),
                                                         dict(self=normal(3), other=integers(3, of="int32"))],
        paddle="paddle.ldexp(self, other)", oneflow="self * 2.0 ** other",
    ),
    op(
        "heaviside(self, values)",
        kind="exact",
        dims="broadcast",
        torch="torch.heaviside(self, values)", paddle="paddle.heaviside(self, values)",
        oneflow=absent("OneFlow", "heaviside"), numpy="np.heaviside(self, values)",
        samples=[dict(self=values([-1.0, 0.0, 2.0]), values=normal(3)), dict(self=normal(2, 3), values=normal(3))],
    ),
    op(
        "frexp(self)",
        kind="exact",
        torch="torch.frexp(self)", paddle="(paddle.frexp(self)[0], paddle.frexp(self)[1].astype('int32'))",
        oneflow=absent("OneFlow", "frexp"), numpy="np.frexp(self)",
        samples=[dict(self=normal(2, 3), _outputs=2), dict(self=positive(3, of="float64"), _outputs=2)],
    ),
    op(
        "lerp(self, end, weight)",
        kind="faithful",
        dims="broadcast",
        torch="torch.lerp(self, end, weight)", paddle="paddle.lerp(self, end, weight)",
        oneflow="self + weight * (end - self)", numpy="self + weight * (end - self)",
        samples=[
            dict(self=normal(2, 3), end=normal(2, 3, seed=1), weight=0.25),
            dict(self=normal(2, 3), end=normal(2, 3, seed=1), weight=unit(2, 3)),
        ],
    ),
    op(
        "addcmul(self, tensor1, tensor2, value=1)",
        kind="faithful",
        dims="broadcast",
        torch="torch.addcmul(self, tensor1, tensor2, value=value)", paddle=_product("*"), numpy=_product("*"),
        samples=[
            dict(self=normal(2, 3), tensor1=normal(2, 3, seed=1), tensor2=normal(2, 3, seed=2), value=0.5),
            dict(self=normal(2, 3), tensor1=normal(2, 1, seed=1), tensor2=normal(1, 3, seed=2)),
        ],
    ),
    op(
        "addcdiv(self, tensor1, tensor2, value=1)",
        kind="faithful",
        dims="broadcast",
        torch="torch.addcdiv(self, tensor1, tensor2, value=value)", paddle=_product("/"), numpy=_product("/"),
        samples=[
            dict(self=normal(2, 3), tensor1=normal(2, 3, seed=1), tensor2=positive(2, 3, seed=2), value=0.5),
            dict(self=normal(2, 3), tensor1=normal(2, 1, seed=1), tensor2=positive(1, 3, seed=2)),
        ],
    ),
    op(
        "clamp(self, min=None, max=None)",
        kind="exact",
        torch="torch.clamp(self, min=min, max=max)", paddle="paddle.clip(self, min=min, max=max)",
        numpy=lambda a: f"np.clip(self, {'min' if a.given('min') else None}, {'max' if a.given('max') else None})",
        samples=[
            dict(self=normal(2, 3), min=-0.5, max=0.5), dict(self=normal(4), min=0), dict(self=integers(4), max=2),
        ],
        why="OneFlow 0.9 ignores a nan bound and rounds a float bound of an integer tensor",
    ),
    op(
        "clamp.Tensor(self, min=None, max=None)",
        kind="exact",
        dims="broadcast",
        torch="torch.clamp(self, min=min, max=max)", paddle=_clamp_between("paddle"), oneflow=_clamp_between("flow"),
        numpy=_clamp_between("np"),
        samples=[
            dict(self=normal(2, 3), min=normal(3, seed=1), max=positive(3, seed=2)),
            dict(self=normal(4), max=normal(4, seed=1)),
        ],
    ),
    op(
        "clamp_min(self, min)",
        kind="exact",
        dims="broadcast",
        torch="torch.clamp_min(self, min)",
        paddle=_paddle_bound("maximum", "min"), oneflow=_flow_bound("maximum", "min"),
        numpy="np.maximum(self, min)",
        samples=[dict(self=normal(2, 3), min=0.25), dict(self=normal(2, 3), min=normal(3, seed=1))],
    ),
    op(
        "clamp_max(self, max)",
        kind="exact",
        dims="broadcast",
        torch="torch.clamp_max(self, max)",
        paddle=_paddle_bound("minimum", "max"), oneflow=_flow_bound("minimum", "max"),
        numpy="np.minimum(self, max)",
        samples=[dict(self=normal(2, 3), max=0.25), dict(self=normal(2, 3), max=normal(3, seed=1))],
    ),
    op(
        "nan_to_num(self, nan=None, posinf=None, neginf=None)",
        kind="exact",
        torch="torch.nan_to_num(self, nan=nan, posinf=posinf, neginf=neginf)",
        paddle="paddle.nan_to_num(self, nan=nan, posinf=posinf, neginf=neginf)",
        oneflow=absent("OneFlow", "nan_to_num"),
        samples=[
            dict(self=values([1.5, float("nan"), float("inf"), float("-inf")])),
            dict(self=values([1.5, float("nan"), float("inf"), float("-inf")]), nan=0.5, posinf=7.0, neginf=-7.0),
        ],
    ),
)
