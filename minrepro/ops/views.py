"""Views: another shape, order or selection over the same memory.

Slices and subscripts are spelled as subscripts. Frameworks resolve those on paths of their own, and bugs live there.
"""

from __future__ import annotations

import math

from minrepro.ir.dtype import dtype
from minrepro.ops.phrase import lacking, ranged
from minrepro.ops.row import Args, Op, op
from minrepro.ops.sample import arange, integers, normal, positive, transposed

FAR = 9223372036854775807
"""The end of an open slice, as ATen writes it."""


def _swapped(a: Args, first: int, second: int) -> str:
    order = list(range(len(a.self.shape)))
    order[first], order[second] = order[second], order[first]
    return str(order)


def _selected(a: Args) -> str:
    return f"self[{', '.join([':'] * (a.dim % len(a.self.shape)) + ['index'])}]"


def _sliced(a: Args) -> str:
    return f"self[{ranged(a)}]"


def _narrowed(a: Args) -> str:
    return f"self[{':, ' * (a.dim % len(a.self.shape))}{a.start}:{a.start + a.length}]"


def _unflattened(a: Args) -> str:
    shape, at = list(a.self.shape), a.dim % len(a.self.shape)
    return f"self.reshape({shape[:at] + list(a.sizes) + shape[at + 1:]})"


def _flattened(a: Args) -> str:
    shape = a.self.shape or (1,)
    start, end = a.start_dim % len(shape), a.end_dim % len(shape)
    return f"self.reshape({(*shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :])})"


def _windows(a: Args) -> str:
    step = f"[{':, ' * (a.dimension % len(a.self.shape))}::step]"
    return f"np.lib.stride_tricks.sliding_window_view(self, size, dimension){step}"


def _paddle_strided(a: Args) -> str:
    if not a.storage_offset:
        return "paddle.as_strided(self, size, stride)"
    return "paddle.as_strided(self, size, stride, storage_offset * self.element_size())"


RESHAPED = (
    op(
        "view(self, size)",
        kind="exact",
        torch="self.view(size)",
        paddle="self.view(size)",
        numpy="self.reshape(size)",
        samples=[
            dict(self=arange(2, 6), size=(3, 4)),
            dict(self=arange(2, 3, 4), size=(-1, 4)),
            dict(self=arange(0, 3), size=(3, 0)),
        ],
        why="Paddle 3.3.1 refuses to view an empty tensor.",
    ),
    op(
        "view.dtype(self, dtype)",
        kind="exact",
        torch="self.view(dtype)",
        paddle="self.view(dtype)",
        oneflow=lambda a: lacking("OneFlow 0.9.0 does not view memory as another dtype"),
        samples=[dict(self=positive(2, 3), dtype=dtype("int32")), dict(self=integers(4), dtype=dtype("int64"))],
    ),
    op(
        "reshape(self, shape)",
        kind="exact",
        torch="self.reshape(shape)",
        paddle="self.reshape(shape)",
        numpy="self.reshape(shape)",
        samples=[
            dict(self=arange(2, 6), shape=(3, 4)),
            dict(self=transposed(arange(2, 6)), shape=(4, -1)),
            dict(self=arange(1), shape=()),
            dict(self=arange(0, 3), shape=(3, 0, 2)),
        ],
        why="Paddle 3.3.1 refuses ten axes.",
    ),
    op(
        "view_as(self, other)",
        kind="exact",
        torch="self.view_as(other)",
        paddle="self.view_as(other)",
        numpy="self.reshape(other.shape)",
        samples=[dict(self=arange(2, 6), other=normal(3, 4)), dict(self=arange(4), other=normal(2, 2))],
    ),
    op(
        "reshape_as(self, other)",
        kind="exact",
        torch="self.reshape_as(other)",
        paddle="self.reshape(other.shape)",
        numpy="self.reshape(other.shape)",
        samples=[dict(self=arange(2, 6), other=normal(3, 4)), dict(self=transposed(arange(4, 1)), other=normal(2, 2))],
    ),
    op(
        "flatten(self, start_dim=0, end_dim=-1)",
        kind="exact",
        torch="torch.flatten(self, start_dim=start_dim, end_dim=end_dim)",
        paddle="paddle.flatten(self, start_axis=start_dim, stop_axis=end_dim)",
        numpy=_flattened,
        samples=[
            dict(self=arange(2, 3, 4)),
            dict(self=arange(2, 3, 4), start_dim=1),
            dict(self=transposed(arange(2, 3, 4)), start_dim=-3, end_dim=-2),
        ],
    ),
    op(
        "unflatten(self, dim, sizes)",
        kind="exact",
        torch="self.unflatten(dim, sizes)",
        paddle="paddle.unflatten(self, dim, sizes)",
        oneflow=_unflattened,
        numpy=_unflattened,
        samples=[dict(self=arange(2, 6), dim=1, sizes=(2, 3)), dict(self=transposed(arange(2, 6)), dim=-2, sizes=(3, -1))],
    ),
    op(
        "ravel(self)",
        kind="exact",
        torch="torch.ravel(self)",
        paddle="paddle.ravel(self)",
        oneflow="flow.flatten(self)",
        numpy="self.ravel()",
        samples=[dict(self=arange(2, 3)), dict(self=transposed(arange(2, 3)))],
    ),
    op(
        "squeeze(self, dim=None)",
        kind="exact",
        torch="torch.squeeze(self, dim)",
        paddle="paddle.squeeze(self, dim)",
        numpy=lambda a: (
            "np.squeeze(self)" if a.dim is None else
            f"self.reshape({[n for i, n in enumerate(a.self.shape) if n != 1 or i not in _positions(a)]})"
        ),
        samples=[
            dict(self=arange(1, 3, 1)),
            dict(self=arange(1, 3, 1), dim=-1),
            dict(self=arange(1, 3, 1), dim=(0, 1)),
            dict(self=transposed(arange(1, 3, 1)), dim=0),
        ],
    ),
    op(
        "unsqueeze(self, dim)",
        kind="exact",
        torch="torch.unsqueeze(self, dim)",
        paddle="paddle.unsqueeze(self, dim)",
        numpy="np.expand_dims(self, dim)",
        samples=[dict(self=arange(2, 3), dim=0), dict(self=transposed(arange(2, 3)), dim=-1)],
    ),
    op(
        "expand(self, size)",
        kind="exact",
        torch="self.expand(size)",
        paddle="self.expand(size)",
        numpy=lambda a: f"np.broadcast_to(self, {_expanded(a)})",
        samples=[
            dict(self=arange(1, 3), size=(2, 3)),
            dict(self=arange(3, 1), size=(2, -1, 4)),
            dict(self=transposed(arange(3, 1)), size=(2, 3)),
        ],
    ),
    op(
        "expand_as(self, other)",
        kind="exact",
        torch="self.expand_as(other)",
        paddle="self.expand_as(other)",
        numpy="np.broadcast_to(self, other.shape)",
        samples=[dict(self=arange(1, 3), other=normal(2, 3)), dict(self=arange(3, 1), other=normal(2, 3, 4))],
    ),
    op(
        "broadcast_to(self, size)",
        kind="exact",
        torch="torch.broadcast_to(self, size)",
        paddle="paddle.broadcast_to(self, size)",
        numpy="np.broadcast_to(self, size)",
        samples=[dict(self=arange(1, 3), size=(2, 3)), dict(self=arange(3, 1), size=(2, 3, 4))],
    ),
    op(
        "view_as_real(self)",
        kind="exact",
        torch="torch.view_as_real(self)",
        paddle="paddle.as_real(self)",
        oneflow=lambda a: lacking("OneFlow 0.9.0 has no complex numbers"),
        numpy="np.stack([self.real, self.imag], -1)",
        samples=[dict(self=normal(2, 3, of="complex64")), dict(self=transposed(normal(2, 3, of="complex64")))],
    ),
    op(
        "view_as_complex(self)",
        kind="exact",
        torch="torch.view_as_complex(self)",
        paddle="paddle.as_complex(self)",
        oneflow=lambda a: lacking("OneFlow 0.9.0 has no complex numbers"),
        numpy="self[..., 0] + 1j * self[..., 1]",
        samples=[dict(self=normal(3, 2)), dict(self=normal(2, 1, 2))],
    ),
)


def _positions(a: Args) -> set[int]:
    rank = len(a.self.shape)
    return {axis % rank for axis in (a.dim if isinstance(a.dim, tuple) else (a.dim,))} if rank else set()


def _expanded(a: Args) -> tuple[int, ...]:
    own = (1,) * (len(a.size) - len(a.self.shape)) + tuple(a.self.shape)
    return tuple(have if want == -1 else want for want, have in zip(a.size, own))


def _swap(name: str, first: str, second: str) -> Op:
    return op(
        f"{name}(self, {first}, {second})",
        kind="exact",
        torch=f"self.{name}({first}, {second})",
        paddle=lambda a: f"self.transpose({_swapped(a, getattr(a, first), getattr(a, second))})",
        numpy=f"np.swapaxes(self, {first}, {second})",
        samples=[
            {"self": arange(2, 3, 4), first: 0, second: 1},
            {"self": transposed(arange(2, 3, 4)), first: -2, second: -1},
        ],
    )


def _move(name: str) -> Op:
    return op(
        f"{name}(self, source, destination)",
        kind="exact",
        torch=f"torch.{name}(self, source, destination)",
        paddle="paddle.moveaxis(self, source, destination)",
        oneflow="flow.movedim(self, source, destination)",
        numpy="np.moveaxis(self, source, destination)",
        samples=[
            dict(self=arange(2, 3, 4), source=0, destination=-1),
            dict(self=transposed(arange(2, 3, 4)), source=(0, 1), destination=(1, 2)),
        ],
    )


REORDERED = (
    _swap("transpose", "dim0", "dim1"),
    _swap("swapaxes", "axis0", "axis1"),
    _swap("swapdims", "dim0", "dim1"),
    op(
        "permute(self, dims)",
        kind="exact",
        torch="self.permute(dims)",
        paddle="self.transpose(dims)",
        numpy="self.transpose(dims)",
        samples=[
            dict(self=arange(2, 3, 4), dims=(2, 0, 1)),
            dict(self=transposed(arange(2, 3, 4)), dims=(0, -1, 1)),
        ],
        why="Paddle 3.3.1 takes a permutation that is too short and returns the input.",
    ),
    op(
        "t(self)",
        kind="exact",
        torch="self.t()",
        paddle="self.t()",
        numpy="self.T",
        samples=[dict(self=arange(2, 3)), dict(self=transposed(arange(2, 3))), dict(self=arange(3))],
    ),
    op(
        "numpy_T(self)",
        kind="exact",
        torch="self.T",
        paddle="self.T",
        numpy="self.T",
        samples=[dict(self=arange(2, 3)), dict(self=transposed(arange(2, 3)))],
    ),
    op(
        "mT(self)",
        kind="exact",
        torch="self.mT",
        paddle="self.mT",
        oneflow="self.transpose(-2, -1)",
        numpy="np.swapaxes(self, -2, -1)",
        samples=[dict(self=arange(2, 3)), dict(self=transposed(arange(2, 3, 4)))],
    ),
    _move("movedim"),
    _move("moveaxis"),
)

SELECTED = (
    op(
        "slice(self, dim=0, start=None, end=None, step=1)",
        kind="exact",
        torch=_sliced,
        paddle=_sliced,
        numpy=_sliced,
        samples=[
            dict(self=arange(4, 3), start=1, end=3),
            dict(self=arange(3, 5), dim=1, start=0, end=FAR, step=2),
            dict(self=transposed(arange(2, 5, 3)), dim=-2, start=-3, end=-1),
            dict(self=arange(2, 3), dim=1, start=2, end=2),
        ],
    ),
    op(
        "select(self, dim, index)",
        kind="exact",
        torch=_selected,
        paddle=_selected,
        numpy=_selected,
        samples=[
            dict(self=arange(4, 3), dim=0, index=1),
            dict(self=transposed(arange(2, 3, 4)), dim=-1, index=-1),
            dict(self=integers(3), dim=0, index=2),
        ],
    ),
    op(
        "narrow(self, dim, start, length)",
        kind="exact",
        torch="torch.narrow(self, dim, start, length)",
        paddle="paddle.narrow(self, dim, start, length)",
        numpy=_narrowed,
        samples=[
            dict(self=arange(4, 3), dim=0, start=1, length=2),
            dict(self=transposed(arange(3, 4)), dim=-2, start=0, length=3),
        ],
    ),
    op(
        "diagonal(self, offset=0, dim1=0, dim2=1)",
        kind="exact",
        torch="torch.diagonal(self, offset=offset, dim1=dim1, dim2=dim2)",
        paddle="paddle.diagonal(self, offset=offset, axis1=dim1, axis2=dim2)",
        numpy="np.diagonal(self, offset, dim1, dim2)",
        samples=[
            dict(self=arange(3, 4)),
            dict(self=arange(2, 3, 4), offset=1, dim1=-2, dim2=-1),
            dict(self=transposed(arange(3, 4)), offset=-1),
        ],
    ),
    op(
        "unfold(self, dimension, size, step)",
        kind="exact",
        torch="self.unfold(dimension, size, step)",
        paddle="self.unfold(dimension, size, step)",
        numpy=_windows,
        samples=[
            dict(self=arange(7), dimension=0, size=3, step=2),
            dict(self=transposed(arange(3, 5)), dimension=-2, size=2, step=1),
        ],
        why="OneFlow 0.9.0 refuses a negative dimension.",
    ),
    op(
        "as_strided(self, size, stride, storage_offset=None)",
        kind="exact",
        torch="torch.as_strided(self, size, stride, storage_offset)",
        paddle=_paddle_strided,
        samples=[
            dict(self=arange(3, 4), size=(2, 2), stride=(4, 1)),
            dict(self=arange(3, 4), size=(3, 2), stride=(1, 2), storage_offset=1),
        ],
        why="Paddle counts the offset in bytes.",
    ),
)

OPS = RESHAPED + REORDERED + SELECTED
