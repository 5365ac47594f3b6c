"""Writes into existing memory.

The layout of the destination decides what these do, so they are steps of their own and not the value they leave
behind. `in_place` has the elementwise ones, `loading` those that read a NumPy array.
"""

from __future__ import annotations

import math

import numpy as np

from minrepro.errors import Unsupported
from minrepro.ir.tensor import Tensor
from minrepro.ops.phrase import SELF, is_tensor, subscript, written
from minrepro.ops.row import Args, op
from minrepro.ops.sample import boolean, integers, normal, transposed, values


def _zeros(*shape: int) -> Tensor:
    return Tensor(np.zeros(shape, np.float32))


def _paddle_fill(a: Args) -> str:
    return written("self.fill_(value.item())" if is_tensor(a.value) else "self.fill_(value)")


def _paddle_copy(a: Args) -> str:
    source = "src" if a.src.shape == a.self.shape else "src.expand(self.shape)"
    return written(f"self.set_value({source}{'' if a.src.dtype == a.self.dtype else '.astype(self.dtype)'})")


def _put(a: Args) -> str:
    if a.accumulate:
        raise Unsupported("index_put_ with accumulate=True has no subscript form")
    return written(f"self[{subscript(a.indices)}] = values")


def _torch_put(a: Args) -> str:
    if not a.accumulate:
        return _put(a)
    if None in a.indices:  # which the Python method does not take
        return written("torch.ops.aten.index_put_(self, indices, values, True)")
    return written("self.index_put_(indices, values, accumulate=True)")


def _paddle_put(a: Args) -> str:
    if not a.accumulate:
        return _put(a)
    if None in a.indices:
        raise Unsupported("paddle.index_put_ takes an index for every leading axis, found None")
    return written("self.index_put_(indices, values, accumulate=True)")


def _numpy_put(a: Args) -> str:
    return written(f"np.add.at(self, np.s_[{subscript(a.indices)}], values)") if a.accumulate else _put(a)


def _index_fill(a: Args) -> str:
    value = "value.item()" if is_tensor(a.value) else "value"
    return written(f"self.index_fill_(index, dim, {value})")


def _at(a: Args, name: str) -> str:
    return ", ".join([":"] * (a.dim % len(a.self.shape)) + [name])


WRITES = (
    op(
        "fill_(self, value)",
        kind="exact",
        mutates=SELF,
        torch=written("self.fill_(value)"),
        paddle=_paddle_fill,
        numpy=written("self.fill(value)"),
        samples=[
            dict(self=normal(2, 3), value=2.5),
            dict(self=transposed(normal(2, 3)), value=-1),
            dict(self=normal(3), value=values(1.5)),
            dict(self=integers(0, 2), value=7),
        ],
        why="OneFlow 0.9.0 writes the first elements of the memory if the destination has gaps.",
    ),
    op(
        "zero_(self)",
        kind="exact",
        mutates=SELF,
        torch=written("self.zero_()"),
        paddle=written("self.zero_()"),
        numpy=written("self.fill(0)"),
        samples=[dict(self=normal(2, 3)), dict(self=transposed(integers(2, 3)))],
    ),
    op(
        "copy_(self, src)",
        kind="exact",
        dims="broadcast",
        mutates=SELF,
        torch=written("self.copy_(src)"),
        paddle=_paddle_copy,
        numpy=written("np.copyto(self, src, casting='unsafe')"),
        samples=[
            dict(self=_zeros(2, 3), src=normal(2, 3)),
            dict(self=transposed(_zeros(2, 3)), src=normal(3, 2)),
            dict(self=_zeros(3, 2), src=transposed(normal(2, 3))),
            dict(self=_zeros(2, 3), src=normal(3)),
        ],
    ),
    op(
        "masked_fill_(self, mask, value)",
        kind="exact",
        dims="self: *s, mask: *s",
        mutates=SELF,
        torch=written("self.masked_fill_(mask, value)"),
        paddle=written("self.masked_fill_(mask, value)"),
        numpy=written("np.copyto(self, value, where=mask)"),
        samples=[
            dict(self=normal(2, 3), mask=boolean(2, 3), value=-1.5),
            dict(self=transposed(normal(2, 3)), mask=boolean(3, 2), value=values(2.0)),
            dict(self=normal(2, 3), mask=boolean(2, 1), value=float("-inf")),
        ],
    ),
    op(
        "masked_scatter_(self, mask, source)",
        kind="exact",
        mutates=SELF,
        torch=written("self.masked_scatter_(mask, source)"),
        paddle=written("self.masked_scatter_(mask, source)"),
        oneflow=written("self[mask] = source.flatten()[:mask.sum().item()]"),
        numpy=written("self[mask] = source.ravel()[:mask.sum()]"),
        samples=[
            dict(self=_zeros(2, 3), mask=boolean(2, 3), source=normal(2, 3)),
            dict(self=transposed(_zeros(2, 3)), mask=boolean(3, 2), source=normal(6)),
        ],
    ),
    op(
        "index_put_(self, indices, values, accumulate=False)",
        kind="exact",
        length=lambda a: 1 + (math.prod(a.values.shape) if a.accumulate else 0),
        mutates=SELF,
        torch=_torch_put,
        paddle=_paddle_put,
        oneflow=_put,
        numpy=_numpy_put,
        samples=[
            dict(self=normal(3, 4), indices=(values([2, 0], "int64"),), values=normal(2, 4, seed=1)),
            dict(self=normal(3, 4), indices=(None, values([3, 1], "int64")), values=normal(3, 2, seed=1)),
            dict(self=normal(3, 4), indices=(values([2, 0], "int64"), values([1, 3], "int64")), values=normal(2)),
            dict(self=normal(3, 4), indices=(boolean(3, 4),), values=values(-1.0)),
            dict(self=transposed(normal(4, 3)), indices=(None, values([1], "int64")), values=normal(3, 1)),
            dict(self=normal(4), indices=(values([1, 1], "int64"),), values=normal(2), accumulate=True),
            dict(self=normal(2, 4), indices=(None, values([1, 1], "int64")), values=normal(2, 2), accumulate=True),
        ],
        why="Spelled as `x[i] = v`, which is what users write. Paddle 3.3.1 writes `x.t()[:, i] = v` to the wrong places; "
        "OneFlow 0.9.0 has no accumulate.",
    ),
    op(
        "index_fill_(self, dim, index, value)",
        kind="exact",
        mutates=SELF,
        torch=written("self.index_fill_(dim, index, value)"),
        paddle=_index_fill,
        oneflow=lambda a: written(f"self[{_at(a, 'index')}] = value"),
        numpy=lambda a: written(f"self[{_at(a, 'index')}] = value"),
        samples=[
            dict(self=normal(3, 4), dim=0, index=values([2, 0], "int64"), value=-1.0),
            dict(self=transposed(normal(3, 4)), dim=-1, index=values([1], "int64"), value=2.0),
        ],
    ),
    op(
        "index_add_(self, dim, index, source, alpha=1)",
        kind="reduction",
        length=lambda a: 1 + a.index.shape[0],
        mutates=SELF,
        torch=written("self.index_add_(dim, index, source, alpha=alpha)"),
        paddle=lambda a: written(f"self.index_add_(index, dim, {'source' if a.alpha == 1 else 'alpha * source'})"),
        numpy=lambda a: written(f"np.add.at(self, np.s_[{_at(a, 'index')}], alpha * source)"),
        samples=[
            dict(self=normal(3, 4), dim=0, index=values([2, 0], "int64"), source=normal(2, 4, seed=1)),
            dict(self=transposed(normal(4, 3)), dim=-1, index=values([1, 1], "int64"), source=normal(3, 2), alpha=2),
        ],
        why="OneFlow 0.9.0 aborts on a negative dim.",
    ),
    op(
        "index_copy_(self, dim, index, source)",
        kind="exact",
        mutates=SELF,
        torch=written("self.index_copy_(dim, index, source)"),
        paddle=lambda a: written(f"self[{_at(a, 'index')}] = source"),
        oneflow=lambda a: written(f"self[{_at(a, 'index')}] = source"),
        numpy=lambda a: written(f"self[{_at(a, 'index')}] = source"),
        samples=[
            dict(self=normal(3, 4), dim=0, index=values([2, 0], "int64"), source=normal(2, 4, seed=1)),
            dict(self=normal(3, 4), dim=-1, index=values([2, 0], "int64"), source=normal(3, 2, seed=1)),
        ],
    ),
    op(
        "scatter_.src(self, dim, index, src)",
        kind="exact",
        mutates=SELF,
        torch=written("self.scatter_(dim, index, src)"),
        paddle=written("self.put_along_axis_(index, src, dim, broadcast=False)"),
        numpy=written("np.put_along_axis(self, index, src, dim)"),
        samples=[
            dict(self=normal(2, 4), dim=1, index=values([[1, 3], [0, 2]], "int64"), src=normal(2, 2, seed=1)),
            dict(self=transposed(normal(2, 4)), dim=-2, index=values([[3, 0]], "int64"), src=normal(1, 2, seed=1)),
        ],
    ),
    op(
        "scatter_.value(self, dim, index, value)",
        kind="exact",
        mutates=SELF,
        torch=written("self.scatter_(dim, index, value)"),
        paddle=written("self.put_along_axis_(index, value, dim, broadcast=False)"),
        numpy=written("np.put_along_axis(self, index, value, dim)"),
        samples=[
            dict(self=_zeros(2, 4), dim=1, index=values([[1], [2]], "int64"), value=1.0),
            dict(self=normal(2, 4), dim=-2, index=values([[1, 0, 1, 1]], "int64"), value=-2.5),
        ],
    ),
    op(
        "scatter_add_(self, dim, index, src)",
        kind="reduction",
        length=lambda a: 1 + a.index.shape[a.dim],
        mutates=SELF,
        torch=written("self.scatter_add_(dim, index, src)"),
        paddle=written("self.scatter_add_(dim, index, src)"),
        samples=[
            dict(self=normal(2, 4), dim=1, index=values([[1, 1], [0, 2]], "int64"), src=normal(2, 2, seed=1)),
            dict(self=normal(2, 4), dim=-2, index=integers(3, 4, high=2), src=normal(3, 4, seed=1)),
        ],
    ),
    op(
        "fill_diagonal_(self, fill_value, wrap=False)",
        kind="exact",
        mutates=SELF,
        torch=written("self.fill_diagonal_(fill_value, wrap=wrap)"),
        paddle=written("self.fill_diagonal_(fill_value, wrap=wrap)"),
        oneflow=written("self.diagonal().fill_(fill_value)"),
        numpy=written("np.fill_diagonal(self, fill_value, wrap=wrap)"),
        samples=[dict(self=normal(3, 3), fill_value=2.0), dict(self=transposed(normal(2, 4)), fill_value=-1.0)],
        why="OneFlow 0.9.0 has only diagonal().fill_, which writes the wrong elements.",
    ),
    op(
        "tril_(self, diagonal=0)",
        kind="exact",
        mutates=SELF,
        torch=written("self.tril_(diagonal)"),
        paddle=written("self.tril_(diagonal)"),
        oneflow=written("self.copy_(flow.tril(self, diagonal))"),
        numpy=written("np.copyto(self, np.tril(self, diagonal))"),
        samples=[dict(self=normal(3, 4)), dict(self=transposed(normal(3, 4)), diagonal=-1)],
    ),
    op(
        "triu_(self, diagonal=0)",
        kind="exact",
        mutates=SELF,
        torch=written("self.triu_(diagonal)"),
        paddle=written("self.triu_(diagonal)"),
        numpy=written("np.copyto(self, np.triu(self, diagonal))"),
        samples=[dict(self=normal(3, 4)), dict(self=transposed(normal(3, 4)), diagonal=1)],
    ),
    op(
        "cumsum_(self, dim, dtype=None)",
        kind="reduction",
        length=lambda a: a.self.shape[a.dim],
        mutates=SELF,
        torch=written("self.cumsum_(dim)"),
        paddle=written("self.cumsum_(dim)"),
        oneflow=written("self.copy_(flow.cumsum(self, dim))"),
        numpy=written("np.cumsum(self, dim, out=self)"),
        samples=[dict(self=normal(3, 4), dim=1), dict(self=transposed(normal(3, 4)), dim=-2)],
    ),
)

RANDOM = (
    op(
        "normal_(self, mean=0.0, std=1.0)",
        kind="random",
        mutates=SELF,
        torch=written("self.normal_(mean, std)"),
        paddle=written("self.normal_(mean, std)"),
        samples=[dict(self=_zeros(2, 3)), dict(self=transposed(_zeros(2, 3)), mean=1.0, std=0.5)],
    ),
    op(
        "uniform_(self, from_=0.0, to=1.0)",
        kind="random",
        mutates=SELF,
        torch=written("self.uniform_(from_, to)"),
        paddle=written("self.uniform_(from_, to)"),
        samples=[dict(self=_zeros(2, 3)), dict(self=_zeros(4), from_=-1.0, to=2.0)],
        why="ATen calls the parameter `from`, which Python cannot spell.",
    ),
    op(
        "bernoulli_(self, p=0.5)",
        kind="random",
        mutates=SELF,
        torch=written("self.bernoulli_(p)"),
        paddle=written("self.bernoulli_(p)"),
        samples=[dict(self=_zeros(2, 3)), dict(self=_zeros(4), p=0.1)],
    ),
    op(
        "exponential_(self, lambd=1.0)",
        kind="random",
        mutates=SELF,
        torch=written("self.exponential_(lambd)"),
        paddle=written("self.exponential_(lambd)"),
        samples=[dict(self=_zeros(2, 3)), dict(self=_zeros(4), lambd=2.0)],
    ),
)

OPS = WRITES + RANDOM
