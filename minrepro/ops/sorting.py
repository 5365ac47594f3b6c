"""Order: sorting, selection and distinct values.

With equal elements the index is free; the verdict compares the values at the returned indices first.
"""

from __future__ import annotations

from minrepro.ops.phrase import lacking
from minrepro.ops.row import Args, Op, Spelling, op
from minrepro.ops.sample import integers, normal, transposed, values


def _numpy_sort(a: Args) -> str:
    if a.descending:
        lacking("NumPy sorts upwards only")
    return f"[np.sort(self, {a.dim}), np.argsort(self, {a.dim}, kind='stable')]"


def _numpy_argsort(a: Args) -> str:
    return lacking("NumPy sorts upwards only") if a.descending else "np.argsort(self, dim, kind='stable')"


def _inverse_shaped(call: str) -> Spelling:
    """Paddle documents a flat inverse, torch one in the shape of the input."""

    def spell(a: Args) -> str:
        if len(a.self.shape) == 1 or getattr(a, "dim", None) is not None:
            return call
        return f"found = {call}\nout = [found[0], found[1].reshape(self.shape), found[2]]"

    return spell


_UNIQUE = [
    dict(self=integers(2, 4), _outputs=3),
    dict(self=transposed(integers(2, 3)), return_inverse=True, return_counts=True, _outputs=3),
]


def _median(name: str, oneflow: Spelling | None) -> tuple[Op, ...]:
    """The lower of two middle elements, as in torch, is Paddle's mode "min"."""
    return (
        op(
            f"{name}(self)",
            kind="exact",
            torch=f"torch.{name}(self)",
            paddle=f"paddle.{name}(self, mode='min')",
            **({"oneflow": oneflow} if oneflow else {}),
            samples=[dict(self=normal(2, 3)), dict(self=transposed(normal(3, 3)))],
        ),
        op(
            f"{name}.dim(self, dim, keepdim=False)",
            kind="index",
            torch=f"torch.{name}(self, dim=dim, keepdim=keepdim)",
            paddle=f"paddle.{name}(self, axis=dim, keepdim=keepdim, mode='min')",
            **({"oneflow": oneflow} if oneflow else {}),
            samples=[
                dict(self=normal(2, 3), dim=1, _outputs=2),
                dict(self=transposed(normal(4, 3)), dim=-1, keepdim=True, _outputs=2),
            ],
        ),
    )


OPS = (
    op(
        "sort(self, dim=-1, descending=False, stable=None)",
        kind="index",
        torch="torch.sort(self, dim=dim, descending=descending, stable=stable)",
        paddle=lambda a: "[paddle.sort(self, axis=dim, descending=descending{0}), "
        "paddle.argsort(self, axis=dim, descending=descending{0})]".format(", stable=True" if a.stable else ""),
        oneflow="flow.sort(self, dim=dim, descending=descending)",
        numpy=_numpy_sort,
        samples=[
            dict(self=normal(2, 3), _outputs=2),
            dict(self=transposed(normal(2, 3, 4)), dim=0, descending=True, _outputs=2),
            dict(self=integers(2, 6), dim=-1, stable=True, _outputs=2),
        ],
        why="OneFlow 0.9.0 answers with int32 indices, and dies on an empty tensor after the call.",
    ),
    op(
        "argsort(self, dim=-1, descending=False, stable=None)",
        kind="index",
        torch=lambda a: f"torch.argsort(self, dim=dim, descending=descending{'' if a.stable is None else ', stable=stable'})",
        paddle=lambda a: f"paddle.argsort(self, axis=dim, descending=descending{', stable=True' if a.stable else ''})",
        oneflow="flow.argsort(self, dim=dim, descending=descending)",
        numpy=_numpy_argsort,
        samples=[
            dict(self=normal(2, 3)),
            dict(self=transposed(normal(2, 3)), dim=-2, descending=True),
            dict(self=integers(2, 6), dim=1, stable=True),
        ],
        why="OneFlow 0.9.0 answers with int32 indices, and dies on an empty tensor after the call.",
    ),
    op(
        "msort(self)",
        kind="exact",
        torch="torch.msort(self)",
        paddle="paddle.msort(self)",
        oneflow="flow.sort(self, dim=0)[0]",
        numpy="np.sort(self, 0)",
        samples=[dict(self=normal(4, 2)), dict(self=transposed(normal(2, 4)))],
    ),
    op(
        "topk(self, k, dim=-1, largest=True, sorted=True)",
        kind="index",
        torch="torch.topk(self, k, dim=dim, largest=largest, sorted=sorted)",
        paddle="paddle.topk(self, k, axis=dim, largest=largest, sorted=sorted)",
        samples=[
            dict(self=normal(2, 5), k=2, _outputs=2),
            dict(self=transposed(normal(2, 5)), k=3, dim=-2, largest=False, _outputs=2),
        ],
    ),
    op(
        "kthvalue(self, k, dim=-1, keepdim=False)",
        kind="index",
        torch="torch.kthvalue(self, k, dim=dim, keepdim=keepdim)",
        paddle="paddle.kthvalue(self, k, axis=dim, keepdim=keepdim)",
        oneflow=lambda a: lacking("OneFlow 0.9.0 has no kthvalue"),
        samples=[
            dict(self=normal(2, 5), k=2, _outputs=2),
            dict(self=transposed(normal(2, 5)), k=1, dim=-2, keepdim=True, _outputs=2),
        ],
    ),
    *_median("median", None),
    *_median("nanmedian", lambda a: lacking("OneFlow 0.9.0 has no nanmedian")),
    op(
        "mode(self, dim=-1, keepdim=False)",
        kind="index",
        torch="torch.mode(self, dim=dim, keepdim=keepdim)",
        paddle="paddle.mode(self, axis=dim, keepdim=keepdim)",
        oneflow=lambda a: lacking("OneFlow 0.9.0 has no mode"),
        samples=[
            dict(self=integers(2, 7, high=3), _outputs=2),
            dict(self=transposed(integers(7, 2, high=3)), dim=-1, keepdim=True, _outputs=2),
        ],
    ),
    op(
        "_unique2(self, sorted=True, return_inverse=False, return_counts=False)",
        kind="index",
        torch="torch.unique(self, sorted=sorted, return_inverse=True, return_counts=True)",
        paddle=_inverse_shaped("paddle.unique(self, return_inverse=True, return_counts=True)"),
        numpy="np.unique(self, return_inverse=True, return_counts=True)",
        samples=_UNIQUE,
        why="torch.unique. The node has three outputs whatever was asked for, so all are computed. "
        "OneFlow 0.9.0 answers with int32 indices.",
    ),
    op(
        "unique_dim(self, dim, sorted=True, return_inverse=False, return_counts=False)",
        kind="index",
        torch="torch.unique(self, sorted=sorted, return_inverse=True, return_counts=True, dim=dim)",
        paddle="paddle.unique(self, return_inverse=True, return_counts=True, axis=dim)",
        oneflow=lambda a: lacking("OneFlow 0.9.0 has no unique along an axis"),
        numpy="np.unique(self, return_inverse=True, return_counts=True, axis=dim)",
        samples=[
            dict(self=values([[1, 2], [0, 1], [1, 2]], "int64"), dim=0, _outputs=3),
            dict(self=transposed(integers(5, 2, high=2)), dim=-1, _outputs=3),
        ],
    ),
    op(
        "unique_consecutive(self, return_inverse=False, return_counts=False, dim=None)",
        kind="index",
        torch="torch.unique_consecutive(self, return_inverse=True, return_counts=True, dim=dim)",
        paddle=_inverse_shaped("paddle.unique_consecutive(self, return_inverse=True, return_counts=True, axis=dim)"),
        oneflow=lambda a: lacking("OneFlow 0.9.0 has no unique_consecutive"),
        samples=[
            dict(self=values([1, 1, 2, 2, 3, 1], "int64"), _outputs=3),
            dict(self=transposed(integers(2, 3, high=2)), _outputs=3),
        ],
    ),
)
