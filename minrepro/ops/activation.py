"""Activation functions, softmax among them."""

from __future__ import annotations

from minrepro.errors import Unsupported
from minrepro.ops.absent import absent
from minrepro.ops.row import Args, Op, Spelling, op
from minrepro.ops.sample import normal, transposed, unit, values

GELU = (
    "import math\nout = self / 2 * (1 + np.vectorize(math.erf, otypes=[float])(self / 2 ** 0.5))"
    " if approximate == 'none' else self / 2 * (1 + np.tanh((2 / np.pi) ** 0.5 * (self + 0.044715 * self ** 3)))"
)
SHIFTED = "np.exp(self - np.max(self, axis=dim, keepdims=True))"
RANDOM = "rrelu draws its slopes at random in training; capture the model in eval mode"


def _plain(name: str, kind: str, numpy: str, call: str = "", paddle: str = "", **own: Spelling) -> Op:
    """An activation without parameters."""
    spellings = {"torch": f"F.{call or name}(self)", "paddle": f"F.{paddle or call or name}(self)", "numpy": numpy}
    samples = [dict(self=normal(2, 3)), dict(self=values(normal(7, seed=1).values * 4)), _double()]
    return op(f"{name}(self)", kind=kind, samples=samples, **{**spellings, **own})


def _double() -> dict:
    return dict(self=transposed(normal(3, 2, seed=2, of="float64")))


def _shaped(signature: str, kind: str, numpy: str, torch: str, settings: tuple[dict, ...], **own: Spelling) -> Op:
    """An activation with parameters; `settings` are the ones that the samples give."""
    samples = [dict(self=normal(2, 3), **settings[0]), *(dict(self=normal(7, seed=1), **more) for more in settings[1:])]
    return op(signature, kind=kind, samples=[*samples, {**_double(), **settings[0]}], torch=torch, numpy=numpy, **own)


def _torch_elu(a: Args) -> str:
    plain = a.scale == a.input_scale == 1
    return "F.elu(self, alpha=alpha)" if plain else "torch.ops.aten.elu(self, alpha, scale, input_scale)"


def _elu(framework: str) -> Spelling:
    refuse = absent(framework, "elu with scale and input_scale")
    return lambda a: "F.elu(self, alpha=alpha)" if a.scale == a.input_scale == 1 else refuse(a)


def _rrelu(framework: str) -> Spelling:
    def spell(a: Args) -> str:
        if a.training:
            raise Unsupported(f"{framework}: {RANDOM}")
        if framework == "OneFlow":
            return "F.leaky_relu(self, (lower + upper) / 2)"
        return "F.rrelu(self, lower=lower, upper=upper, training=False)"

    return spell


def _softmax_rows(function: str, numpy: str) -> tuple[Op, ...]:
    """The operator that users call and the two that decompositions leave behind."""
    def flow(a: Args) -> str:
        return f"flow.{function}(self{'.to(dtype)' if a.given('dtype') else ''}, dim)"

    samples = [
        dict(self=normal(2, 3), dim=-1), dict(self=normal(2, 5, 3, of="float64"), dim=1), dict(self=normal(4), dim=0),
    ]
    kept = dict(kind="reduction", length=_along, numpy=numpy)
    return (
        op(
            f"{function}(self, dim, dtype=None)", samples=samples, torch=f"torch.{function}(self, dim, dtype=dtype)",
            paddle=f"F.{function}(self, axis=dim, dtype=dtype)", oneflow=flow, **kept,
        ),
        op(
            f"_{function}(self, dim, half_to_float)", samples=[dict(s, half_to_float=False) for s in samples[:2]],
            torch=f"torch.{function}(self, dim)", paddle=f"F.{function}(self, axis=dim)", **kept,
        ),
    )


def _along(a: Args) -> int:
    return a.self.shape[a.dim] if a.self.shape else 1


OPS = (
    _plain("relu", "exact", "np.maximum(self, 0)"),
    _plain("relu6", "exact", "np.clip(self, 0, 6)"),
    op(
        "gelu(self, approximate='none')",
        kind="faithful",
        torch="F.gelu(self, approximate=approximate)", oneflow="flow.nn.GELU(approximate=approximate)(self)",
        paddle=lambda a: "F.gelu(self)" if a.approximate == "none" else "F.gelu(self, approximate=True)",
        numpy=GELU,
        samples=[
            dict(self=normal(2, 3)), dict(self=normal(7, seed=1), approximate="tanh"),
            dict(self=normal(3, 5, seed=2, of="float64")),
        ],
        why="torch 2.13 gives nan for an infinite float32 among several",
    ),
    _plain("silu", "faithful", "self / (1 + np.exp(-self))"),
    _plain("mish", "faithful", "self * np.tanh(np.logaddexp(0, self))"),
    _plain("hardswish", "faithful", "self * np.clip(self + 3, 0, 6) / 6"),
    _plain("hardsigmoid", "faithful", "np.clip(self + 3, 0, 6) / 6"),
    _plain(
        "selu", "faithful",
        "1.0507009873554805 * np.where(self > 0, self, 1.6732632423543772 * np.expm1(np.minimum(self, 0)))",
    ),
    _plain("log_sigmoid", "faithful", "-np.logaddexp(0, -self)", call="logsigmoid", paddle="log_sigmoid"),
    _shaped(
        "hardtanh(self, min_val=-1, max_val=1)", "exact", "np.clip(self, min_val, max_val)",
        "F.hardtanh(self, min_val=min_val, max_val=max_val)", ({}, dict(min_val=-0.5, max_val=2.0)),
        paddle="F.hardtanh(self, min=min_val, max=max_val)",
    ),
    _shaped(
        "leaky_relu(self, negative_slope=0.01)", "rounded", "np.where(self > 0, self, self * negative_slope)",
        "F.leaky_relu(self, negative_slope=negative_slope)", ({}, dict(negative_slope=0.2)),
        paddle="F.leaky_relu(self, negative_slope=negative_slope)", oneflow="F.leaky_relu(self, negative_slope)",
    ),
    op(
        "prelu(self, weight)",
        kind="rounded",
        dims="self: b c *, weight: c",
        torch="F.prelu(self, weight)", paddle="F.prelu(self, weight)",
        samples=[
            dict(self=normal(2, 3), weight=unit(3)), dict(self=normal(2, 3, 4), weight=unit(1)),
            dict(self=normal(2, 3, 4, 2), weight=unit(3)),
        ],
    ),
    _shaped(
        "elu(self, alpha=1, scale=1, input_scale=1)", "faithful",
        "scale * np.where(self > 0, self, alpha * np.expm1(np.minimum(self, 0) * input_scale))",
        _torch_elu, ({}, dict(alpha=0.5)), paddle=_elu("Paddle"), oneflow=_elu("OneFlow"),
    ),
    _shaped(
        "celu(self, alpha=1.0)", "faithful", "np.where(self > 0, self, alpha * np.expm1(np.minimum(self, 0) / alpha))",
        "F.celu(self, alpha=alpha)", ({}, dict(alpha=0.5)), paddle="F.celu(self, alpha=alpha)",
    ),
    op(
        "glu(self, dim=-1)",
        kind="faithful",
        torch="F.glu(self, dim=dim)", paddle="F.glu(self, axis=dim)",
        numpy="np.split(self, 2, axis=dim)[0] / (1 + np.exp(-np.split(self, 2, axis=dim)[1]))",
        samples=[dict(self=normal(2, 6)), dict(self=normal(4, 3, of="float64"), dim=0)],
    ),
    _shaped(
        "softplus(self, beta=1, threshold=20)", "faithful",
        "np.where(beta * self > threshold, self, np.logaddexp(0, beta * self) / beta)",
        "F.softplus(self, beta=beta, threshold=threshold)", ({}, dict(beta=2, threshold=3)),
        paddle="F.softplus(self, beta=beta, threshold=threshold)",
    ),
    _shaped(
        "softshrink(self, lambd=0.5)", "rounded", "np.sign(self) * np.maximum(np.abs(self) - lambd, 0)",
        "F.softshrink(self, lambd=lambd)", ({}, dict(lambd=0.25)),
        paddle="F.softshrink(self, threshold=lambd)", oneflow="flow.nn.Softshrink(lambd)(self)",
    ),
    _shaped(
        "hardshrink(self, lambd=0.5)", "exact", "np.where(np.abs(self) > lambd, self, 0)",
        "F.hardshrink(self, lambd=lambd)", ({}, dict(lambd=0.25)), paddle="F.hardshrink(self, threshold=lambd)",
    ),
    _shaped(
        "threshold(self, threshold, value)", "exact", "np.where(self > threshold, self, value)",
        "F.threshold(self, threshold=threshold, value=value)",
        (dict(threshold=0.0, value=0.0), dict(threshold=0.25, value=-1.0)),
        paddle="F.thresholded_relu(self, threshold=threshold, value=value)",
    ),
    _shaped(
        "rrelu(self, lower=0.125, upper=0.3333333333333333, training=False)", "faithful",
        "np.where(self > 0, self, self * (lower + upper) / 2)",
        "F.rrelu(self, lower=lower, upper=upper, training=training)", ({}, dict(lower=0.1, upper=0.5)),
        paddle=_rrelu("Paddle"), oneflow=_rrelu("OneFlow"),
    ),
    *_softmax_rows("softmax", f"{SHIFTED} / np.sum({SHIFTED}, axis=dim, keepdims=True)"),
    *_softmax_rows(
        "log_softmax",
        "self - np.max(self, axis=dim, keepdims=True)"
        f" - np.log(np.sum({SHIFTED}, axis=dim, keepdims=True))",
    ),
)
