"""Indexing with tensors: gather, scatter, masks and search.

`index` is spelled as a subscript, for that is what users write and where frameworks go wrong on views.
"""

from __future__ import annotations

import math

from minrepro.ops.phrase import is_tensor, lacking, subscript
from minrepro.ops.row import Args, Spelling, op
from minrepro.ops.sample import arange, boolean, integers, normal, transposed, values


def _index(a: Args) -> str:
    return f"self[{subscript(a.indices)}]"


def _at(a: Args, what: str = "index") -> str:
    """``:, index`` for the parameter dim."""
    return ", ".join([":"] * (a.dim % len(a.self.shape)) + [what])


def _copied(statement: str, clone: str = "self.clone()") -> str:
    return f"out = {clone}\n{statement}\nout = out"


def _into_copy(source: str, clone: str = "self.clone()") -> Spelling:
    return lambda a: _copied(f"out[{_at(a)}] = {source}", clone)


def _put(clone: str) -> Spelling:
    def spell(a: Args) -> str:
        if a.accumulate:
            lacking("a subscript cannot accumulate")
        return _copied(f"out[{subscript(a.indices)}] = values", clone)

    return spell


def _torch_put(a: Args) -> str:
    if None not in a.indices:
        return "torch.index_put(self, indices, values, accumulate=accumulate)"
    # The Python method takes no None; a subscript does, but cannot accumulate.
    return "torch.ops.aten.index_put(self, indices, values, True)" if a.accumulate else _put("self.clone()")(a)


def _paddle_put(a: Args) -> str:
    if None not in a.indices:
        return "paddle.index_put(self, indices, values, accumulate=accumulate)"
    return _put("self.clone()")(a)


def _numpy_put(a: Args) -> str:
    if a.accumulate:
        return _copied(f"np.add.at(out, np.s_[{subscript(a.indices)}], values)", "self.copy()")
    return _put("self.copy()")(a)


INDEXED = (
    op(
        "index(self, indices)",
        kind="exact",
        torch=_index,
        paddle=_index,
        numpy=_index,
        samples=[
            dict(self=arange(4, 3), indices=(values([2, 0, 2], "int64"),)),
            dict(self=arange(2, 3), indices=(None, values([1, 0], "int64"))),
            dict(self=arange(4, 3), indices=(values([2, 0], "int64"), values([1, -1], "int64"))),
            dict(self=arange(2, 3), indices=(boolean(2, 3, seed=1),)),
            dict(self=arange(2, 3, 2), indices=(None, values([True, False, True], "bool"))),
            dict(self=arange(3, 2), indices=(values([[1, 0], [2, 2]], "int64"),)),
            dict(self=transposed(arange(2, 2)), indices=(None, values([0], "int64"))),
        ],
        why="Paddle 3.3.1 reads the wrong elements of a view: x.t()[:, i], x[:, ::2][:, i], and masks likewise.",
    ),
    op(
        "index_put(self, indices, values, accumulate=False)",
        kind="exact",
        length=lambda a: 1 + (math.prod(a.values.shape) if a.accumulate else 0),
        torch=_torch_put,
        paddle=_paddle_put,
        oneflow=_put("self.clone()"),
        numpy=_numpy_put,
        samples=[
            dict(self=normal(3, 4), indices=(values([2, 0], "int64"),), values=normal(2, 4, seed=1)),
            dict(self=normal(3, 4), indices=(None, values([3, 1], "int64")), values=normal(3, 2, seed=1)),
            dict(self=normal(3, 4), indices=(boolean(3, 4),), values=values(-1.0)),
            dict(self=normal(4), indices=(values([1, 1], "int64"),), values=normal(2), accumulate=True),
        ],
    ),
    op(
        "index_select(self, dim, index)",
        kind="exact",
        torch="torch.index_select(self, dim, index)",
        paddle="paddle.index_select(self, index, axis=dim)",
        numpy="np.take(self, index, dim)",
        samples=[
            dict(self=normal(3, 4), dim=0, index=values([2, 0, 2], "int64")),
            dict(self=transposed(normal(3, 4)), dim=-1, index=values([1], "int64")),
            dict(self=normal(3, 4), dim=1, index=integers(0)),
        ],
    ),
    op(
        "index_add(self, dim, index, source, alpha=1)",
        kind="reduction",
        length=lambda a: 1 + a.index.shape[0],
        torch="torch.index_add(self, dim, index, source, alpha=alpha)",
        paddle=lambda a: f"paddle.index_add(self, index, dim, {'source' if a.alpha == 1 else 'alpha * source'})",
        numpy=lambda a: _copied(f"np.add.at(out, np.s_[{_at(a)}], alpha * source)", "self.copy()"),
        samples=[
            dict(self=normal(3, 4), dim=0, index=values([2, 0], "int64"), source=normal(2, 4, seed=1)),
            dict(self=transposed(normal(4, 3)), dim=1, index=values([1, 1], "int64"), source=normal(3, 2), alpha=2),
        ],
        why="OneFlow 0.9.0 aborts on a negative dim.",
    ),
    op(
        "index_copy(self, dim, index, source)",
        kind="exact",
        torch="torch.index_copy(self, dim, index, source)",
        paddle=_into_copy("source"),
        oneflow=_into_copy("source"),
        numpy=_into_copy("source", "self.copy()"),
        samples=[
            dict(self=normal(3, 4), dim=0, index=values([2, 0], "int64"), source=normal(2, 4, seed=1)),
            dict(self=normal(3, 4), dim=-1, index=values([2, 0], "int64"), source=normal(3, 2, seed=1)),
        ],
    ),
    op(
        "index_fill(self, dim, index, value)",
        kind="exact",
        torch="torch.index_fill(self, dim, index, value)",
        paddle=lambda a: f"paddle.index_fill(self, index, dim, {'value.item()' if is_tensor(a.value) else 'value'})",
        oneflow=_into_copy("value"),
        numpy=_into_copy("value", "self.copy()"),
        samples=[
            dict(self=normal(3, 4), dim=0, index=values([2, 0], "int64"), value=-1.0),
            dict(self=transposed(normal(3, 4)), dim=-1, index=values([1], "int64"), value=2.0),
        ],
    ),
    op(
        "take(self, index)",
        kind="exact",
        torch="torch.take(self, index)",
        paddle="paddle.take(self, index)",
        oneflow="flow.flatten(self)[index]",
        numpy="np.take(self, index)",
        samples=[
            dict(self=normal(3, 4), index=values([[0, 11], [5, 5]], "int64")),
            dict(self=transposed(normal(3, 4)), index=values([1, -1], "int64")),
        ],
    ),
    op(
        "take_along_dim(self, indices, dim=None)",
        kind="exact",
        torch="torch.take_along_dim(self, indices, dim=dim)",
        paddle=lambda a: (
            "paddle.take_along_axis(paddle.flatten(self), paddle.flatten(indices), 0)" if a.dim is None
            else "paddle.take_along_axis(self, indices, dim)"
        ),
        oneflow=lambda a: (
            "flow.gather(flow.flatten(self), 0, flow.flatten(indices))" if a.dim is None
            else "flow.gather(self, dim, indices)"
        ),
        numpy=lambda a: (
            "np.take_along_axis(np.ravel(self), np.ravel(indices), 0)" if a.dim is None
            else "np.take_along_axis(self, indices, dim)"
        ),
        samples=[
            dict(self=normal(2, 3), indices=values([[2, 0], [1, 1]], "int64"), dim=1),
            dict(self=transposed(normal(2, 3)), indices=values([[2, 0]], "int64"), dim=-2),
            dict(self=normal(2, 3), indices=values([4, 0], "int64")),
        ],
    ),
)


def _axis_pick(a: Args) -> str:
    """Only where index and self agree off the axis is ATen's gather NumPy's take_along_axis."""
    off = [at for at in range(len(a.self.shape)) if at != a.dim % len(a.self.shape)]
    if any(a.self.shape[at] != a.index.shape[at] for at in off):
        lacking("NumPy broadcasts where ATen crops")
    return "np.take_along_axis(self, index, dim)"


def _axis_put(what: str) -> Spelling:
    def spell(a: Args) -> str:
        _axis_pick(a)
        return _copied(f"np.put_along_axis(out, index, {what}, dim)", "self.copy()")

    return spell


SCATTERED = (
    op(
        "gather(self, dim, index)",
        kind="exact",
        torch="torch.gather(self, dim, index)",
        paddle="paddle.take_along_axis(self, index, dim, broadcast=False)",
        numpy=_axis_pick,
        samples=[
            dict(self=normal(2, 3), dim=1, index=values([[2, 0], [1, 1]], "int64")),
            dict(self=transposed(normal(2, 3)), dim=-2, index=values([[2, 0]], "int64")),
            dict(self=normal(3, 3), dim=0, index=values([[2, 0]], "int64")),
        ],
    ),
    op(
        "scatter.src(self, dim, index, src)",
        kind="exact",
        torch="torch.scatter(self, dim, index, src)",
        paddle="paddle.put_along_axis(self, index, src, dim, broadcast=False)",
        numpy=_axis_put("src"),
        samples=[
            dict(self=normal(2, 4), dim=1, index=values([[1, 3], [0, 2]], "int64"), src=normal(2, 2, seed=1)),
            dict(self=transposed(normal(2, 4)), dim=-2, index=values([[3, 0]], "int64"), src=normal(1, 2, seed=1)),
        ],
    ),
    op(
        "scatter.value(self, dim, index, value)",
        kind="exact",
        torch="torch.scatter(self, dim, index, value)",
        paddle="paddle.put_along_axis(self, index, value, dim, broadcast=False)",
        numpy=_axis_put("value"),
        samples=[
            dict(self=normal(2, 4), dim=1, index=values([[1], [2]], "int64"), value=1.0),
            dict(self=transposed(normal(2, 4)), dim=-2, index=values([[3, 0]], "int64"), value=-2.5),
        ],
    ),
    op(
        "scatter_add(self, dim, index, src)",
        kind="reduction",
        length=lambda a: 1 + a.index.shape[a.dim],
        torch="torch.scatter_add(self, dim, index, src)",
        paddle="paddle.scatter_add(self, dim, index, src)",
        samples=[
            dict(self=normal(2, 4), dim=1, index=values([[1, 1], [0, 2]], "int64"), src=normal(2, 2, seed=1)),
            dict(self=transposed(normal(4, 2)), dim=-2, index=integers(3, 4, high=2), src=normal(3, 4, seed=1)),
        ],
    ),
    op(
        "scatter_reduce(self, dim, index, src, reduce, include_self=True)",
        kind="reduction",
        length=lambda a: 1 + a.index.shape[a.dim],
        torch="torch.scatter_reduce(self, dim, index, src, reduce, include_self=include_self)",
        paddle="paddle.scatter_reduce(self, dim, index, src, reduce, include_self=include_self)",
        oneflow=lambda a: lacking("OneFlow 0.9.0 has no scatter_reduce"),
        samples=[
            dict(self=normal(2, 4), dim=1, index=integers(2, 3, high=4), src=normal(2, 3, seed=1), reduce=how)
            for how in ("sum", "amax", "mean")
        ],
    ),
)

MASKED = (
    op(
        "masked_fill(self, mask, value)",
        kind="exact",
        dims="broadcast",
        torch="torch.masked_fill(self, mask, value)",
        paddle="paddle.masked_fill(self, mask, value)",
        numpy="np.where(mask, value, self)",
        samples=[
            dict(self=normal(2, 3), mask=boolean(2, 3), value=-1.5),
            dict(self=transposed(normal(2, 3)), mask=boolean(3, 1), value=float("-inf")),
            dict(self=normal(2, 3), mask=boolean(3), value=values(2.0)),
        ],
    ),
    op(
        "masked_select(self, mask)",
        kind="exact",
        dims="broadcast",
        torch="torch.masked_select(self, mask)",
        paddle="paddle.masked_select(self, mask)",
        numpy="np.broadcast_to(self, np.broadcast_shapes(self.shape, mask.shape))"
        "[np.broadcast_to(mask, np.broadcast_shapes(self.shape, mask.shape))]",
        samples=[
            dict(self=normal(2, 3), mask=boolean(2, 3)),
            dict(self=transposed(normal(2, 3)), mask=boolean(3, 2)),
            dict(self=normal(2, 3), mask=boolean(3)),
        ],
    ),
    op(
        "masked_scatter(self, mask, source)",
        kind="exact",
        torch="torch.masked_scatter(self, mask, source)",
        paddle="paddle.masked_scatter(self, mask, source)",
        oneflow=_copied("out[mask] = source.flatten()[:mask.sum().item()]"),
        numpy=_copied("out[mask] = source.ravel()[:mask.sum()]", "self.copy()"),
        samples=[
            dict(self=normal(2, 3), mask=boolean(2, 3), source=normal(2, 3, seed=1)),
            dict(self=transposed(normal(2, 3)), mask=boolean(3, 2), source=normal(6, seed=1)),
        ],
    ),
)


def _placed(a: Args) -> str:
    return f"side={'right' if a.right or getattr(a, 'side', None) == 'right' else 'left'!r}"


SEARCHED = (
    op(
        "nonzero(self)",
        kind="index",
        torch="torch.nonzero(self)",
        paddle="paddle.nonzero(self)",
        numpy="np.argwhere(self)",
        samples=[dict(self=boolean(2, 3)), dict(self=transposed(integers(2, 3, high=2))), dict(self=normal(0, 3))],
    ),
    op(
        "argwhere(self)",
        kind="index",
        torch="torch.argwhere(self)",
        paddle="paddle.argwhere(self)",
        numpy="np.argwhere(self)",
        samples=[dict(self=boolean(2, 3)), dict(self=transposed(integers(2, 3, high=2)))],
        why="OneFlow 0.9.0 answers in int32.",
    ),
    op(
        "nonzero_numpy(self)",
        kind="index",
        torch="torch.nonzero(self, as_tuple=True)",
        paddle="paddle.nonzero(self, as_tuple=True)",
        numpy="np.nonzero(self)",
        samples=[dict(self=boolean(2, 3), _outputs=2), dict(self=transposed(integers(2, 3, high=2)), _outputs=2)],
    ),
    op(
        "one_hot(self, num_classes=-1)",
        kind="exact",
        torch="F.one_hot(self, num_classes)",
        paddle="F.one_hot(self, num_classes)",
        numpy=lambda a: lacking("the class count is read off the values") if a.num_classes < 0 else
        "np.eye(num_classes, dtype=np.int64)[self]",
        samples=[dict(self=integers(4), num_classes=6), dict(self=transposed(integers(2, 3))), dict(self=integers(2, 3))],
        why="Paddle's result is float32 where torch's and OneFlow's is int64.",
    ),
    op(
        "bucketize(self, boundaries, out_int32=False, right=False)",
        kind="index",
        torch="torch.bucketize(self, boundaries, out_int32=out_int32, right=right)",
        paddle="paddle.bucketize(self, boundaries, out_int32=out_int32, right=right)",
        oneflow="flow.searchsorted(boundaries, self, out_int32=out_int32, right=right)",
        numpy=lambda a: f"np.searchsorted(boundaries, self, {_placed(a)})",
        samples=[
            dict(self=normal(2, 3), boundaries=values([-1.0, 0.0, 1.0])),
            dict(self=transposed(integers(2, 3, of="float32")), boundaries=arange(4), right=True),
        ],
    ),
    op(
        "searchsorted(sorted_sequence, self, out_int32=False, right=False, side=None)",
        kind="index",
        torch="torch.searchsorted(sorted_sequence, self, out_int32=out_int32, right=right, side=side)",
        paddle="paddle.searchsorted(sorted_sequence, self, out_int32=out_int32, right=right, side=side)",
        oneflow=lambda a: f"flow.searchsorted(sorted_sequence, self, out_int32=out_int32, right="
        f"{a.right or a.side == 'right'})",
        numpy=lambda a: f"np.searchsorted(sorted_sequence, self, {_placed(a)})"
        if len(a.sorted_sequence.shape) == 1 else lacking("np.searchsorted takes one sorted row"),
        samples=[
            dict(sorted_sequence=values([-1.0, 0.0, 1.0]), self=normal(2, 3)),
            dict(sorted_sequence=arange(2, 4), self=transposed(integers(3, 2, of="float32")), side="right"),
        ],
    ),
)

OPS = INDEXED + SCATTERED + MASKED + SEARCHED
