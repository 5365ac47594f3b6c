"""Elementwise operators that overwrite their first argument.

Where a framework has no such form, the value is computed and copied into the destination, which is what its users do.
"""

from __future__ import annotations

from typing import Callable

from minrepro.ops.phrase import SELF, is_tensor, lacking, written
from minrepro.ops.row import Args, Op, Spelling, op
from minrepro.ops.sample import boolean, integers, normal, positive, transposed, values


def _unary(
    signature: str,
    kind: str,
    numpy: str | None,
    *,
    torch: str | None = None,
    paddle: str | None = None,
    oneflow: str | None = None,
    make: Callable = normal,
    more: tuple[dict, ...] = (),
    why: str = "",
) -> Op:
    """A row whose sources differ in the value only; a framework's own in-place call is the default spelling.

    Args:
        signature: as for `op`; the first parameter is ``self``.
        kind: as for `op`.
        numpy: the value in NumPy, None if that takes more than a line.
        torch: statement that writes to ``self``.
        paddle: the value, if Paddle has no in-place form; a statement if it ends with ``;``.
        oneflow: likewise for OneFlow.
        make: constructor of the sample's tensor.
        more: further samples.
        why: as for `op`.
    """
    call = torch or f"self.{signature.partition('(')[0]}()"
    spellings: dict[str, Spelling] = {"torch": written(call)}
    if paddle is None or paddle.endswith(";"):
        spellings["paddle"] = written((paddle or call).rstrip(";"))
    else:
        spellings["paddle"] = written(f"paddle.assign({paddle}, output=self)")
    if oneflow is not None:
        spellings["oneflow"] = written(oneflow[:-1] if oneflow.endswith(";") else f"self.copy_({oneflow})")
    if numpy is not None:
        spellings["numpy"] = written(f"np.copyto(self, {numpy})")
    samples = [dict(self=make(2, 3)), dict(self=transposed(make(2, 3, seed=1))), *more]
    return op(signature, kind=kind, mutates=SELF, samples=samples, why=why, **spellings)


UNARY = (
    _unary("abs_(self)", "exact", "np.abs(self)", oneflow="flow.abs(self)"),
    _unary("ceil_(self)", "exact", "np.ceil(self)", oneflow="flow.ceil(self)"),
    _unary("floor_(self)", "exact", "np.floor(self)"),
    _unary("trunc_(self)", "exact", "np.trunc(self)", oneflow="flow.trunc(self)"),
    _unary("round_(self)", "exact", "np.round(self)", oneflow="flow.round(self)"),
    _unary("sign_(self)", "exact", "np.sign(self)", paddle="paddle.sign(self)", oneflow="flow.sign(self)"),
    _unary("neg_(self)", "exact", "-self", oneflow="flow.neg(self)"),
    _unary("sqrt_(self)", "rounded", "np.sqrt(self)", oneflow="flow.sqrt(self)", make=positive),
    _unary("reciprocal_(self)", "rounded", "1 / self", oneflow="flow.reciprocal(self)"),
    _unary("square_(self)", "rounded", "self * self", oneflow="flow.square(self)"),
    _unary("rsqrt_(self)", "faithful", "1 / np.sqrt(self)", oneflow="flow.rsqrt(self)", make=positive),
    _unary("exp_(self)", "faithful", "np.exp(self)", oneflow="flow.exp(self)"),
    _unary("expm1_(self)", "faithful", "np.expm1(self)", paddle="paddle.expm1_(self);", oneflow="flow.expm1(self)"),
    _unary("log_(self)", "faithful", "np.log(self)", oneflow="flow.log(self)", make=positive),
    _unary("log1p_(self)", "faithful", "np.log1p(self)", oneflow="flow.log1p(self)", make=positive),
    _unary("sin_(self)", "faithful", "np.sin(self)"),
    _unary("cos_(self)", "faithful", "np.cos(self)", oneflow="flow.cos(self)"),
    _unary("tanh_(self)", "faithful", "np.tanh(self)", oneflow="flow.tanh(self)"),
    _unary("sigmoid_(self)", "faithful", "1 / (1 + np.exp(-self))", oneflow="flow.sigmoid(self)"),
    _unary("erf_(self)", "faithful", None, paddle="paddle.erf_(self);", oneflow="flow.erf(self)"),
    _unary("logical_not_(self)", "exact", "~self", oneflow="flow.logical_not(self)", make=boolean),
    _unary("relu_(self)", "exact", "np.maximum(self, 0)", paddle="F.relu_(self);"),
    _unary(
        "relu6_(self)", "exact", "np.clip(self, 0, 6)",
        torch="F.relu6(self, inplace=True)", paddle="F.relu6(self)", oneflow="F.relu6(self)",
        why="OneFlow 0.9.0 returns the value but leaves the input of relu6(inplace=True) as it is.",
    ),
    _unary(
        "hardtanh_(self, min_val=-1, max_val=1)", "exact", "np.clip(self, min_val, max_val)",
        torch="F.hardtanh_(self, min_val, max_val)", paddle="F.hardtanh_(self, min_val, max_val);",
        oneflow="F.hardtanh(self, min_val=min_val, max_val=max_val)",
        more=(dict(self=normal(3, 2), min_val=0.0, max_val=6.0),),
    ),
    _unary(
        "leaky_relu_(self, negative_slope=0.01)", "rounded", "np.where(self > 0, self, negative_slope * self)",
        torch="F.leaky_relu_(self, negative_slope)", paddle="F.leaky_relu_(self, negative_slope);",
        oneflow="F.leaky_relu(self, negative_slope)",
        more=(dict(self=normal(3, 2), negative_slope=0.2),),
    ),
    _unary(
        "elu_(self, alpha=1)", "faithful", "np.where(self > 0, self, alpha * np.expm1(self))",
        torch="F.elu_(self, alpha)", paddle="F.elu_(self, alpha);", oneflow="F.elu(self, alpha)",
        more=(dict(self=normal(3, 2), alpha=0.5),),
    ),
    _unary(
        "celu_(self, alpha=1.0)", "faithful",
        "np.maximum(self, 0) + np.minimum(0, alpha * np.expm1(self / alpha))",
        torch="F.celu_(self, alpha)", paddle="F.celu(self, alpha)", oneflow="F.celu(self, alpha=alpha, inplace=True);",
        more=(dict(self=normal(3, 2), alpha=0.5),),
    ),
    _unary("selu_(self)", "faithful", None, torch="F.selu_(self)", paddle="F.selu(self)", oneflow="F.selu(self)"),
    _unary(
        "silu_(self)", "faithful", "self / (1 + np.exp(-self))",
        torch="F.silu(self, inplace=True)", paddle="F.silu(self)", oneflow="F.silu(self)",
    ),
    _unary(
        "mish_(self)", "faithful", "self * np.tanh(np.log1p(np.exp(self)))",
        torch="F.mish(self, inplace=True)", paddle="F.mish(self)", oneflow="F.mish(self)",
    ),
    _unary(
        "hardswish_(self)", "rounded", "self * np.clip(self + 3, 0, 6) / 6",
        torch="F.hardswish(self, inplace=True)", paddle="F.hardswish(self)", oneflow="F.hardswish(self)",
    ),
    _unary(
        "hardsigmoid_(self)", "rounded", "np.clip(self + 3, 0, 6) / 6",
        torch="F.hardsigmoid(self, inplace=True)", paddle="F.hardsigmoid(self, slope=1 / 6)",
        oneflow="F.hardsigmoid(self)",
    ),
)


def _other(a: Args) -> str:
    return "other" if is_tensor(a.other) else "paddle.to_tensor(other, dtype=self.dtype)"


def _paddle(method: str) -> Callable[[Args], str]:
    def spell(a: Args) -> str:
        other = _other(a)
        if getattr(a, "alpha", 1) != 1:
            other = f"alpha * {other}"
        return written(f"self.{method}({other})")

    return spell


def _torch_sum(method: str) -> Callable[[Args], str]:
    return lambda a: written(f"self.{method}(other{'' if a.alpha == 1 else ', alpha=alpha'})")


def _paddle_divide(a: Args) -> str:
    if a.rounding_mode is None:
        return written(f"self.divide_({_other(a)})")
    if a.rounding_mode == "floor":
        return written(f"self.floor_divide_({_other(a)})")
    return written(f"paddle.assign(paddle.trunc(self / {_other(a)}), output=self)")


def _oneflow_divide(a: Args) -> str:
    if a.rounding_mode is None:
        return written("self.div_(other)")
    return written(f"self.copy_(flow.{a.rounding_mode}(self / other))")


def _numpy_divide(a: Args) -> str:
    function = {None: "np.divide(self, other)", "floor": "np.floor_divide(self, other)"}
    return written(f"np.copyto(self, {function.get(a.rounding_mode, 'np.trunc(self / other)')})")


_PAIRS = [
    dict(self=normal(2, 3), other=normal(2, 3, seed=1)),
    dict(self=transposed(normal(2, 3)), other=normal(2, seed=1)),
    dict(self=normal(2, 3), other=2),
]

SPECIAL = (
    op(
        "threshold_(self, threshold, value)",
        kind="exact",
        mutates=SELF,
        torch=written("F.threshold_(self, threshold, value)"),
        paddle=written("paddle.assign(F.thresholded_relu(self, threshold, value), output=self)"),
        oneflow=written("self.copy_(F.threshold(self, threshold=threshold, value=value))"),
        numpy=written("np.copyto(self, np.where(self > threshold, self, value))"),
        samples=[
            dict(self=normal(2, 3), threshold=0.1, value=-2.0),
            dict(self=transposed(normal(2, 3)), threshold=-0.5, value=0),
        ],
    ),
    op(
        "nan_to_num_(self, nan=None, posinf=None, neginf=None)",
        kind="exact",
        mutates=SELF,
        torch=written("self.nan_to_num_(nan=nan, posinf=posinf, neginf=neginf)"),
        paddle=written("self.nan_to_num_(nan=nan, posinf=posinf, neginf=neginf)"),
        oneflow=lambda a: lacking("OneFlow 0.9.0 has no nan_to_num"),
        samples=[
            dict(self=values([float("nan"), 1.0, float("inf")]), nan=0.5, posinf=9.0, neginf=-1.0),
            dict(self=transposed(normal(2, 3))),
        ],
    ),
)

BINARY = (
    op(
        "add_(self, other, alpha=1)",
        kind="rounded",
        dims="broadcast",
        mutates=SELF,
        torch=_torch_sum("add_"),
        paddle=_paddle("add_"),
        numpy=written("np.copyto(self, self + alpha * other)"),
        samples=[*_PAIRS, dict(self=normal(2, 3), other=normal(2, 1), alpha=0.5)],
    ),
    op(
        "sub_(self, other, alpha=1)",
        kind="rounded",
        dims="broadcast",
        mutates=SELF,
        torch=_torch_sum("sub_"),
        paddle=_paddle("subtract_"),
        oneflow=lambda a: written(f"self.sub_({'' if a.alpha == 1 else 'alpha * '}other)"),
        numpy=written("np.copyto(self, self - alpha * other)"),
        samples=[*_PAIRS, dict(self=normal(2, 3), other=normal(2, 1), alpha=2)],
    ),
    op(
        "mul_(self, other)",
        kind="rounded",
        dims="broadcast",
        mutates=SELF,
        torch=written("self.mul_(other)"),
        paddle=_paddle("multiply_"),
        numpy=written("np.copyto(self, self * other)"),
        samples=_PAIRS,
    ),
    op(
        "div_(self, other, rounding_mode=None)",
        kind="rounded",
        dims="broadcast",
        mutates=SELF,
        torch=written("self.div_(other, rounding_mode=rounding_mode)"),
        paddle=_paddle_divide,
        oneflow=_oneflow_divide,
        numpy=_numpy_divide,
        samples=[
            *_PAIRS,
            dict(self=normal(2, 3), other=positive(3), rounding_mode="floor"),
            dict(self=normal(2, 3), other=0.5, rounding_mode="trunc"),
        ],
    ),
    op(
        "pow_(self, exponent)",
        kind="faithful",
        dims="broadcast",
        mutates=SELF,
        torch=written("self.pow_(exponent)"),
        paddle=lambda a: written(
            "paddle.assign(paddle.pow(self, exponent), output=self)" if is_tensor(a.exponent) else "self.pow_(exponent)"
        ),
        oneflow=written("self.copy_(flow.pow(self, exponent))"),
        numpy=written("np.copyto(self, self ** exponent)"),
        samples=[
            dict(self=normal(2, 3), exponent=2),
            dict(self=positive(2, 3), exponent=normal(3)),
            dict(self=transposed(positive(2, 3)), exponent=0.5),
        ],
    ),
    op(
        "remainder_(self, other)",
        kind="rounded",
        dims="broadcast",
        mutates=SELF,
        torch=written("self.remainder_(other)"),
        paddle=_paddle("remainder_"),
        oneflow=written("self.copy_(self - flow.floor(self / other) * other)"),
        numpy=written("np.copyto(self, np.mod(self, other))"),
        samples=[dict(self=normal(2, 3), other=0.5), dict(self=transposed(normal(2, 3)), other=positive(2))],
    ),
    op(
        "fmod_(self, other)",
        kind="rounded",
        dims="broadcast",
        mutates=SELF,
        torch=written("self.fmod_(other)"),
        paddle=lambda a: written(f"paddle.assign(self - paddle.trunc(self / {_other(a)}) * other, output=self)"),
        oneflow=written("self.copy_(flow.fmod(self, other))"),
        numpy=written("np.copyto(self, np.fmod(self, other))"),
        samples=[dict(self=normal(2, 3), other=0.5), dict(self=transposed(normal(2, 3)), other=positive(2))],
    ),
    op(
        "floor_divide_(self, other)",
        kind="rounded",
        dims="broadcast",
        mutates=SELF,
        torch=written("self.floor_divide_(other)"),
        paddle=_paddle("floor_divide_"),
        oneflow=written("self.copy_(self // other)"),
        numpy=written("np.copyto(self, np.floor_divide(self, other))"),
        samples=[
            dict(self=normal(2, 3), other=0.5),
            dict(self=integers(2, 3, low=-5), other=integers(2, 3, low=1, seed=1)),
        ],
        why="OneFlow 0.9.0 rounds an integer quotient towards zero and does not broadcast it.",
    ),
)


def _clamp(call: str, root: str) -> Callable[[Args], str]:
    """Both frameworks clamp in place between numbers only; tensors as bounds take maximum and minimum."""

    def spell(a: Args) -> str:
        low, high = getattr(a, "min", None), getattr(a, "max", None)
        if not is_tensor(low) and not is_tensor(high):
            return written(call)
        value = "self" if low is None else f"{root}.maximum(self, min)"
        return written(_COPY[root].format(value if high is None else f"{root}.minimum({value}, max)"))

    return spell


_COPY = {"paddle": "paddle.assign({}, output=self)", "flow": "self.copy_({})"}


CLAMPS = (
    op(
        "clamp_(self, min=None, max=None)",
        kind="exact",
        dims="broadcast",
        mutates=SELF,
        torch=written("self.clamp_(min=min, max=max)"),
        paddle=_clamp("self.clip_(min=min, max=max)", "paddle"),
        oneflow=_clamp("self.clamp_(min=min, max=max)", "flow"),
        numpy=lambda a: written(f"np.copyto(self, np.clip(self, min, {'max' if a.given('max') else 'None'}))"),
        samples=[
            dict(self=normal(2, 3), min=-0.5, max=0.5),
            dict(self=transposed(normal(2, 3)), min=0),
            dict(self=normal(2, 3), max=normal(2, 3, seed=1)),
        ],
    ),
    op(
        "clamp_min_(self, min)",
        kind="exact",
        dims="broadcast",
        mutates=SELF,
        torch=written("self.clamp_min_(min)"),
        paddle=_clamp("self.clip_(min=min)", "paddle"),
        oneflow=_clamp("self.clamp_min_(min)", "flow"),
        numpy=written("np.copyto(self, np.maximum(self, min))"),
        samples=[dict(self=normal(2, 3), min=0.25), dict(self=transposed(normal(2, 3)), min=normal(3, 2, seed=1))],
    ),
    op(
        "clamp_max_(self, max)",
        kind="exact",
        dims="broadcast",
        mutates=SELF,
        torch=written("self.clamp_max_(max)"),
        paddle=_clamp("self.clip_(max=max)", "paddle"),
        oneflow=_clamp("self.clamp_max_(max)", "flow"),
        numpy=written("np.copyto(self, np.minimum(self, max))"),
        samples=[dict(self=normal(2, 3), max=0.25), dict(self=transposed(normal(2, 3)), max=normal(3, 2, seed=1))],
    ),
    op(
        "lerp_(self, end, weight)",
        kind="rounded",
        dims="broadcast",
        mutates=SELF,
        torch=written("self.lerp_(end, weight)"),
        paddle=written("self.lerp_(end, weight)"),
        oneflow=written("self.copy_(self + weight * (end - self))"),
        numpy=written("np.copyto(self, self + weight * (end - self))"),
        samples=[
            dict(self=normal(2, 3), end=normal(2, 3, seed=1), weight=0.25),
            dict(self=transposed(normal(2, 3)), end=normal(3, 2, seed=1), weight=positive(3, 2)),
        ],
    ),
    op(
        "addcmul_(self, tensor1, tensor2, value=1)",
        kind="rounded",
        dims="broadcast",
        mutates=SELF,
        torch=written("self.addcmul_(tensor1, tensor2, value=value)"),
        paddle=lambda a: written(f"self.add_({'' if a.value == 1 else 'value * '}tensor1 * tensor2)"),
        numpy=written("np.copyto(self, self + value * tensor1 * tensor2)"),
        samples=[
            dict(self=normal(2, 3), tensor1=normal(2, 3, seed=1), tensor2=normal(2, 3, seed=2)),
            dict(self=transposed(normal(2, 3)), tensor1=normal(3, 2), tensor2=normal(3, 2), value=-0.5),
        ],
    ),
    op(
        "addcdiv_(self, tensor1, tensor2, value=1)",
        kind="rounded",
        dims="broadcast",
        mutates=SELF,
        torch=written("self.addcdiv_(tensor1, tensor2, value=value)"),
        paddle=lambda a: written(f"self.add_({'' if a.value == 1 else 'value * '}tensor1 / tensor2)"),
        numpy=written("np.copyto(self, self + value * tensor1 / tensor2)"),
        samples=[
            dict(self=normal(2, 3), tensor1=normal(2, 3, seed=1), tensor2=positive(2, 3)),
            dict(self=transposed(normal(2, 3)), tensor1=normal(3, 2), tensor2=positive(3, 2), value=-0.5),
        ],
    ),
)

OPS = UNARY + SPECIAL + BINARY + CLAMPS
