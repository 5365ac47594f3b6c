"""Reductions over axes: sums, products, extremes, moments, norms and scans.

A missing or empty `dim` means every axis, which most frameworks write by leaving the argument away.
"""

from __future__ import annotations

from minrepro.ops.phrase import axes, lacking, reduced
from minrepro.ops.row import Args, Op, Spelling, op
from minrepro.ops.sample import boolean, integers, normal, transposed, values


def _over(call: str, axis: str = "dim", more: str = "", *, keep: bool = True) -> Spelling:
    """A call over `dim`, or over everything.

    Args:
        call: function, as ``torch.sum``.
        axis: the function's name for `dim`.
        more: further arguments, with a leading comma.
        keep: False if the operator has no `keepdim`.
    """

    def spell(a: Args) -> str:
        kept = ", keepdim=keepdim" if keep else ""
        if a.dim not in (None, ()):
            return f"{call}(self, {axis}=dim{kept}{more})"
        if keep and a.keepdim:
            return f"{call}(self, {axis}={list(range(len(a.self.shape)))}{kept}{more})"
        return f"{call}(self{more})"

    return spell


def _numpy(call: str, more: str = "") -> Spelling:
    return lambda a: f"np.{call}(self, axis={axes(getattr(a, 'dim', None))}, keepdims={getattr(a, 'keepdim', False)}{more})"


_SAMPLES = [
    dict(self=normal(3, 4)),
    dict(self=normal(3, 4), dim=(1,)),
    dict(self=transposed(normal(2, 3, 4)), dim=(-1, 0), keepdim=True),
]


def _plain(name: str, kind: str, samples: list, *, dtype: bool = False, why: str = "", **other: Spelling) -> Op:
    """A reduction that torch, Paddle and NumPy call alike."""
    spellings: dict[str, Spelling] = {
        "torch": _over(f"torch.{name}", more=", dtype=dtype" if dtype else ""),
        "paddle": _over(f"paddle.{name}", "axis", ", dtype=dtype" if dtype else ""),
        "numpy": _numpy(name),
    }
    spellings.update(other)
    signature = f"{name}(self, dim=None, keepdim=False{', dtype=None' if dtype else ''})"
    return op(signature, kind=kind, length=reduced, samples=samples, why=why, **spellings)


SUMS = (
    _plain(
        "sum", "reduction",
        [*_SAMPLES, dict(self=normal(0, 3), dim=(0,)), dict(self=transposed(integers(2, 3)), dim=(-2,))],
        dtype=True,
    ),
    _plain(
        "mean", "reduction", _SAMPLES, dtype=True,
        why="OneFlow 0.9.0 answers 0 for the mean of nothing, where torch, Paddle and NumPy answer nan.",
    ),
    _plain(
        "prod", "reduction",
        [dict(self=normal(3, 4)), dict(self=transposed(normal(3, 4)), dim=-1, keepdim=True), dict(self=normal(0))],
        dtype=True, why="OneFlow 0.9.0 answers 0 for the product of nothing.",
    ),
    _plain("nansum", "reduction", [*_SAMPLES, dict(self=values([[float("nan"), 1.0]]), dim=(1,))], dtype=True),
    _plain(
        "nanmean", "reduction", [*_SAMPLES, dict(self=values([[float("nan"), 1.0]]), dim=(1,))],
        paddle=_over("paddle.nanmean", "axis"), oneflow=lambda a: lacking("OneFlow 0.9.0 has no nanmean"),
    ),
    _plain("amax", "exact", _SAMPLES),
    _plain("amin", "exact", _SAMPLES),
    _plain("all", "exact", [dict(self=boolean(2, 3)), dict(self=transposed(boolean(2, 3)), dim=-1, keepdim=True)]),
    _plain("any", "exact", [dict(self=boolean(2, 3)), dict(self=transposed(boolean(2, 3)), dim=-1, keepdim=True)]),
    op(
        "count_nonzero(self, dim=None)",
        kind="exact",
        torch=_over("torch.count_nonzero", keep=False),
        paddle=_over("paddle.count_nonzero", "axis", keep=False),
        oneflow=lambda a: "flow.sum(self != 0, dim)" if a.dim not in (None, ()) else "flow.sum(self != 0)",
        numpy=lambda a: f"np.asarray(np.count_nonzero(self, axis={axes(a.dim)}))",
        samples=[dict(self=integers(2, 3, high=2)), dict(self=transposed(integers(2, 3, high=2)), dim=-1)],
    ),
    op(
        "logsumexp(self, dim, keepdim=False)",
        kind="reduction",
        length=reduced,
        torch="torch.logsumexp(self, dim, keepdim=keepdim)",
        paddle="paddle.logsumexp(self, dim, keepdim=keepdim)",
        numpy=_numpy("logaddexp.reduce"),
        samples=_SAMPLES[1:],
        why="Paddle 3.3.1 answers nan for a row of -inf.",
    ),
)


def _extreme(name: str) -> tuple[Op, ...]:
    arg = f"arg{name}"
    return (
        op(
            f"{name}(self)",
            kind="exact",
            torch=f"torch.{name}(self)",
            paddle=f"paddle.{name}(self)",
            numpy=f"np.{name}(self)",
            samples=[dict(self=normal(2, 3)), dict(self=transposed(integers(2, 3)))],
        ),
        op(
            f"{name}.dim(self, dim, keepdim=False)",
            kind="index",
            torch=f"torch.{name}(self, dim=dim, keepdim=keepdim)",
            paddle=f"[paddle.{name}(self, axis=dim, keepdim=keepdim), paddle.{arg}(self, axis=dim, keepdim=keepdim)]",
            numpy=lambda a: f"[np.{name}(self, {a.dim}, keepdims={a.keepdim}), np.{arg}(self, {a.dim}, keepdims={a.keepdim})]",
            samples=[
                dict(self=normal(2, 3), dim=1, _outputs=2),
                dict(self=transposed(normal(2, 3, 4)), dim=-2, keepdim=True, _outputs=2),
            ],
        ),
        op(
            f"{arg}(self, dim=None, keepdim=False)",
            kind="index",
            torch=f"torch.{arg}(self, dim=dim, keepdim=keepdim)",
            paddle=f"paddle.{arg}(self, axis=dim, keepdim=keepdim)",
            numpy=_numpy(arg),
            samples=[
                dict(self=normal(2, 3)),
                dict(self=transposed(normal(2, 3)), dim=-1),
                dict(self=integers(2, 3), dim=0, keepdim=True),
            ],
        ),
    )


def _both(root: str, first: str, second: str, axis: str = "axis") -> Spelling:
    def spell(a: Args) -> str:
        return f"[{_over(f'{root}.{first}', axis)(a)}, {_over(f'{root}.{second}', axis)(a)}]"

    return spell


EXTREMES = (
    *_extreme("max"),
    *_extreme("min"),
    op(
        "aminmax(self, dim=None, keepdim=False)",
        kind="exact",
        torch="torch.aminmax(self, dim=dim, keepdim=keepdim)",
        paddle=_both("paddle", "amin", "amax"),
        oneflow=_both("flow", "amin", "amax", "dim"),
        numpy=lambda a: f"[{_numpy('min')(a)}, {_numpy('max')(a)}]",
        samples=[
            dict(self=normal(2, 3), _outputs=2),
            dict(self=transposed(normal(2, 3)), dim=-1, keepdim=True, _outputs=2),
        ],
    ),
)


def _correction(a: Args) -> float:
    if hasattr(a, "unbiased"):
        return int(a.unbiased)
    return 1 if a.correction is None else a.correction


def _moment(root: str, name: str, axis: str, spread: str) -> Spelling:
    """var or std with the divisor as the framework asks for it."""
    return _over(f"{root}.{name}", axis, f", {spread}")


def _spread(a: Args, root: str, name: str, axis: str) -> str:
    """var or std in a framework that knows only `unbiased`."""
    correction = _correction(a)
    if correction not in (0, 1):
        lacking(f"{root}.{name} divides by n or n - 1 only, found correction={correction}")
    return _moment(root, name, axis, f"unbiased={bool(correction)}")(a)


def _torch_spread(a: Args, name: str) -> str:
    given = "unbiased=unbiased" if hasattr(a, "unbiased") else "correction=correction"
    return _moment("torch", name, "dim", given)(a)


def _paddle_spread(a: Args, name: str) -> str:
    if name == "var" and _correction(a) not in (0, 1):
        return _moment("paddle", name, "axis", "correction=correction")(a)
    return _spread(a, "paddle", name, "axis")


def _numpy_spread(a: Args, name: str) -> str:
    return _numpy(name, f", ddof={_correction(a)}")(a)


_SPREAD = [*_SAMPLES, dict(self=normal(3, 4), dim=(0, 1))]
_UNBIASED = [*_SPREAD, dict(self=transposed(normal(3, 4)), dim=(-1,), unbiased=False)]
_CORRECTED = [*_SPREAD, dict(self=transposed(normal(3, 4)), dim=(-1,), correction=0)]


def _spreads(name: str) -> tuple[Op, ...]:
    """The four rows of var or std: alone and with the mean, by `unbiased` and by `correction`."""
    rows = []
    for overload, setting, samples in (("", "unbiased=True", _UNBIASED), (".correction", "correction=None", _CORRECTED)):
        common = f"{overload}(self, dim=None, {setting}, keepdim=False)"
        rows.append(
            op(
                name + common,
                kind="reduction",
                length=reduced,
                torch=lambda a: _torch_spread(a, name),
                paddle=lambda a: _paddle_spread(a, name),
                oneflow=lambda a: _spread(a, "flow", name, "dim"),
                numpy=lambda a: _numpy_spread(a, name),
                samples=samples,
                why="OneFlow 0.9.0 raises if dim names every axis." if name == "var" else "",
            )
        )
        rows.append(
            op(
                f"{name}_mean{common}",
                kind="reduction",
                length=reduced,
                torch=lambda a: _torch_spread(a, f"{name}_mean"),
                paddle=lambda a: f"[{_paddle_spread(a, name)}, {_over('paddle.mean', 'axis')(a)}]",
                oneflow=lambda a: f"[{_spread(a, 'flow', name, 'dim')}, {_over('flow.mean')(a)}]",
                numpy=lambda a: f"[{_numpy_spread(a, name)}, {_numpy('mean')(a)}]",
                samples=[dict(sample, _outputs=2) for sample in samples],
            )
        )
    return tuple(rows)


def _norm(a: Args, root: str, order: str, axis: str) -> str:
    text = _over(f"{root}.linalg.vector_norm", axis, ", dtype=dtype")(a)
    return text.replace("(self", f"(self, {order}", 1)


def _vector_norm(signature: str, order: str, samples: list) -> Op:
    return op(
        signature,
        kind="reduction",
        length=reduced,
        torch=lambda a: _norm(a, "torch", order, "dim"),
        paddle=lambda a: _norm(a, "paddle", order, "axis"),
        oneflow=lambda a: _norm(a, "flow", order, "dim"),
        numpy=lambda a: _numpy_norm(a, getattr(a, order)),
        samples=samples,
        why="Paddle 3.3.1 takes the root of a float64 norm with a float32 exponent.",
    )


def _numpy_norm(a: Args, order: float | None) -> str:
    order = 2 if order is None else order
    if order in (float("inf"), float("-inf")):
        return _numpy("max" if order > 0 else "min")(a).replace("(self", "(np.abs(self)", 1)
    total = _numpy("sum")(a)
    if order == 0:
        return total.replace("(self", "(self != 0", 1)
    return f"{total.replace('(self', f'(np.abs(self) ** {order}', 1)} ** (1 / {order})"


NORMS = (
    _vector_norm(
        "linalg_vector_norm(self, ord=2, dim=None, keepdim=False, dtype=None)", "ord",
        [
            *_SAMPLES,
            dict(self=normal(3, 4), ord=1, dim=(-1,)),
            dict(self=normal(3, 4), ord=3.0, dim=(0,)),
            dict(self=transposed(normal(3, 4)), ord=float("inf")),
        ],
    ),
    _vector_norm(
        "norm(self, p=2, dim=None, keepdim=False, dtype=None)", "p",
        [*_SAMPLES, dict(self=normal(3, 4), p=1, dim=(-1,))],
    ),
    op(
        "dist(self, other, p=2)",
        kind="reduction",
        dims="broadcast",
        torch="torch.dist(self, other, p=p)",
        paddle="paddle.dist(self, other, p=p)",
        oneflow="flow.linalg.vector_norm(self - other, p)",
        numpy="np.sum(np.abs(self - other) ** p) ** (1 / p)",
        samples=[
            dict(self=normal(2, 3), other=normal(2, 3, seed=1)),
            dict(self=transposed(normal(2, 3)), other=normal(2, seed=1), p=3),
        ],
    ),
)

OPS = SUMS + EXTREMES + _spreads("var") + _spreads("std") + NORMS
