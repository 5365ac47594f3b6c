"""Running totals, counts and quantiles."""

from __future__ import annotations

import math

from minrepro.ir.dtype import dtype
from minrepro.ops.phrase import axes, is_tensor, lacking
from minrepro.ops.row import Args, Op, Spelling, op
from minrepro.ops.sample import arange, integers, normal, positive, transposed, unit, values


def _along(a: Args) -> int:
    return a.self.shape[a.dim] if a.self.shape else 1


_SCANS = [
    dict(self=normal(3, 4), dim=1),
    dict(self=transposed(normal(2, 3, 4)), dim=-3),
    dict(self=normal(0, 3), dim=0),
]


def _oneflow_running(name: str) -> Spelling:
    def spell(a: Args) -> str:
        if a.dtype is None:
            return f"flow.{name}(self, dim)"
        # Sums of narrow integers come out as int64, as in torch where no dtype is asked for.
        back = "" if a.dtype.inexact or a.dtype.name == "int64" else ".to(dtype)"
        return f"flow.{name}(self.to(dtype), dim){back}"

    return spell


def _running(name: str, axis: str) -> Op:
    return op(
        f"{name}(self, dim, dtype=None)",
        kind="reduction",
        length=_along,
        torch=f"torch.{name}(self, dim, dtype=dtype)",
        paddle=f"paddle.{name}(self, {axis}=dim, dtype=dtype)",
        oneflow=_oneflow_running(name),
        numpy=lambda a: f"np.{name}(self, dim{', dtype=dtype' if a.given('dtype') else ''})",
        samples=[*_SCANS, dict(self=integers(2, 3), dim=0), dict(self=integers(2, 3), dim=0, dtype=dtype("int32"))],
    )


def _extreme(name: str) -> Op:
    return op(
        f"{name}(self, dim)",
        kind="index",
        torch=f"torch.{name}(self, dim)",
        paddle=f"paddle.{name}(self, axis=dim)",
        oneflow=lambda a: lacking(f"OneFlow 0.9.0 has no {name}"),
        samples=[dict(sample, _outputs=2) for sample in _SCANS[:2]],
    )


def _quantile(root: str, name: str, axis: str) -> str:
    return f"{root}.{name}(self, q, {axis}=dim, keepdim=keepdim, interpolation=interpolation)"


def _oneflow_quantile(a: Args, name: str) -> str:
    if name != "quantile" or is_tensor(a.q) or a.dim is None:
        lacking("OneFlow 0.9.0 has quantile along one axis with one number only")
    return _quantile("flow", name, "dim")


def _quantiles(name: str) -> Op:
    return op(
        f"{name}(self, q, dim=None, keepdim=False, interpolation='linear')",
        kind="faithful",
        torch=_quantile("torch", name, "dim"),
        paddle=_quantile("paddle", name, "axis"),
        oneflow=lambda a: _oneflow_quantile(a, name),
        numpy=lambda a: f"np.{name}(self, q, axis={axes(a.dim)}, keepdims={a.keepdim}, method=interpolation)",
        samples=[
            dict(self=normal(3, 5), q=0.3, dim=1),
            dict(self=transposed(normal(3, 5)), q=values([0.25, 0.9]), dim=-2, keepdim=True),
            dict(self=normal(3, 5), q=0.5),
        ],
        why="OneFlow 0.9.0 answers in float64.",
    )


OPS = (
    _running("cumsum", "axis"),
    _running("cumprod", "dim"),
    op(
        "logcumsumexp(self, dim)",
        kind="reduction",
        length=_along,
        torch="torch.logcumsumexp(self, dim)",
        paddle="paddle.logcumsumexp(self, axis=dim)",
        oneflow=lambda a: lacking("OneFlow 0.9.0 has no logcumsumexp"),
        numpy="np.logaddexp.accumulate(self, dim)",
        samples=_SCANS[:2],
    ),
    _extreme("cummax"),
    _extreme("cummin"),
    op(
        "diff(self, n=1, dim=-1, prepend=None, append=None)",
        kind="rounded",
        torch="torch.diff(self, n=n, dim=dim, prepend=prepend, append=append)",
        paddle="paddle.diff(self, n=n, axis=dim, prepend=prepend, append=append)",
        oneflow=lambda a: lacking("OneFlow 0.9.0 has no diff"),
        numpy=lambda a: "np.diff(self, n, dim{})".format(
            "".join(f", {name}={name}" for name in ("prepend", "append") if a.given(name))
        ),
        samples=[
            dict(self=normal(3, 4)),
            dict(self=transposed(normal(3, 4)), n=2, dim=-2),
            dict(self=normal(3, 4), dim=0, prepend=normal(1, 4, seed=1)),
        ],
    ),
    _quantiles("quantile"),
    _quantiles("nanquantile"),
    op(
        "bincount(self, weights=None, minlength=0)",
        kind="reduction",
        length=lambda a: math.prod(a.self.shape),
        torch="torch.bincount(self, weights=weights, minlength=minlength)",
        paddle="paddle.bincount(self, weights=weights, minlength=minlength)",
        numpy="np.bincount(self, weights=weights, minlength=minlength)",
        samples=[
            dict(self=integers(6)),
            dict(self=integers(6, high=3), weights=positive(6, of="float64"), minlength=5),
        ],
    ),
    op(
        "histc(self, bins=100, min=0, max=0)",
        kind="exact",
        torch="torch.histc(self, bins=bins, min=min, max=max)",
        paddle="paddle.histogram(self, bins=bins, min=min, max=max).astype(self.dtype)",
        oneflow=lambda a: lacking("OneFlow 0.9.0 has no histc"),
        samples=[
            dict(self=unit(7), bins=4, min=0, max=1),
            dict(self=transposed(arange(2, 3)), bins=3),
        ],
    ),
)
