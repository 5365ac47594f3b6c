"""Joining tensors and splitting them."""

from __future__ import annotations

import math
from typing import Callable

from minrepro.ops.phrase import lacking
from minrepro.ops.row import Args, Op, op
from minrepro.ops.sample import arange, boolean, normal, transposed

PAIR = (normal(2, 3), normal(2, 3, seed=1))
TURNED = (transposed(normal(3, 2)), transposed(normal(3, 2, seed=1)))


def _sections(total: int, size: int) -> list[int]:
    """Sizes of the pieces of at most `size`; an empty axis is one empty piece."""
    return [min(size, total - start) for start in range(0, total, size)] or [0]


def _unpacked(text: str, count: int) -> str:
    """A list of one tensor is that tensor: the node has one output."""
    return f"{text}[0]" if count == 1 else text


def _sizes(a: Args) -> list[int]:
    asked = a.split_size if hasattr(a, "split_size") else a.split_sizes
    return list(asked) if isinstance(asked, tuple) else _sections(a.self.shape[a.dim], asked)


def _chunks(a: Args) -> list[int]:
    total = a.self.shape[a.dim]
    return _sections(total, max(1, math.ceil(total / a.chunks))) if total else [0] * a.chunks


def _even(a: Args) -> list[int]:
    total = a.self.shape[a.dim]
    return [total // a.sections + (at < total % a.sections) for at in range(a.sections)]


def _cut(sizes: Callable[[Args], list[int]], call: str) -> Callable[[Args], str]:
    return lambda a: _unpacked(call, len(sizes(a)))


def _paddle_cut(sizes: Callable[[Args], list[int]]) -> Callable[[Args], str]:
    """Paddle's split takes the number of equal pieces, or the size of each."""

    def spell(a: Args) -> str:
        pieces = sizes(a)
        how = len(pieces) if len(set(pieces)) == 1 else pieces
        return _unpacked(f"paddle.split(self, {how}, axis=dim)", len(pieces))

    return spell


def _numpy_cut(sizes: Callable[[Args], list[int]]) -> Callable[[Args], str]:
    def spell(a: Args) -> str:
        pieces = sizes(a)
        ends = [sum(pieces[: at + 1]) for at in range(len(pieces) - 1)]
        return _unpacked(f"np.split(self, {ends}, dim)", len(pieces))

    return spell


def _joined(text: str) -> Callable[[Args], str]:
    """The text for the tensors that count: torch alone skips empty ones of one axis, whatever the others look like."""

    def spell(a: Args) -> str:
        rank = max(len(tensor.shape) for tensor in a.tensors)
        kept = [at for at, tensor in enumerate(a.tensors) if rank == 1 or tuple(tensor.shape) != (0,)]
        if len(kept) == len(a.tensors):
            return text.format(tensors="tensors")
        return text.format(tensors=f"[{', '.join(f'tensors[{at}]' for at in kept)}]")

    return spell


def _cat(name: str) -> Op:
    return op(
        f"{name}(tensors, dim=0)",
        kind="exact",
        torch=f"torch.{name}(tensors, dim=dim)",
        paddle=_joined("paddle.concat({tensors}, axis=dim)"),
        oneflow=_joined("flow.cat({tensors}, dim=dim)"),
        numpy=_joined("np.concatenate({tensors}, dim)"),
        samples=[
            dict(tensors=(normal(2, 3), normal(1, 3, seed=1))),
            dict(tensors=(transposed(normal(3, 2)), normal(2, 4), normal(2, 0)), dim=-1),
            dict(tensors=(normal(0), normal(1, 3)), dim=-2),
        ],
    )


def _stacked(name: str, paddle: str, oneflow: str, numpy: str) -> Op:
    return op(
        f"{name}(tensors)",
        kind="exact",
        dims="tensors: *s",
        torch=f"torch.{name}(tensors)",
        paddle=f"paddle.{paddle}(tensors)",
        oneflow=f"flow.{oneflow}(tensors)",
        numpy=f"np.{numpy}(tensors)",
        samples=[dict(tensors=PAIR), dict(tensors=TURNED), dict(tensors=(normal(3), normal(3, seed=1)))],
    )


JOINED = (
    _cat("cat"),
    _cat("concat"),
    _cat("concatenate"),
    op(
        "stack(tensors, dim=0)",
        kind="exact",
        dims="tensors: *s",
        torch="torch.stack(tensors, dim=dim)",
        paddle="paddle.stack(tensors, axis=dim)",
        numpy="np.stack(tensors, dim)",
        samples=[dict(tensors=PAIR), dict(tensors=TURNED, dim=-1), dict(tensors=PAIR, dim=1)],
    ),
    _stacked("hstack", "hstack", "hstack", "hstack"),
    _stacked("vstack", "vstack", "vstack", "vstack"),
    _stacked("row_stack", "row_stack", "row_stack", "vstack"),
    _stacked("dstack", "dstack", "dstack", "dstack"),
    _stacked("column_stack", "column_stack", "column_stack", "column_stack"),
    op(
        "block_diag(tensors)",
        kind="exact",
        torch=lambda a: f"torch.block_diag({', '.join(f'tensors[{at}]' for at in range(len(a.tensors)))})",
        paddle="paddle.block_diag(tensors)",
        oneflow=lambda a: lacking("OneFlow 0.9.0 has no block_diag"),
        samples=[dict(tensors=PAIR), dict(tensors=(transposed(normal(2, 3)), normal(1, 4)))],
    ),
    op(
        "cartesian_prod(tensors)",
        kind="exact",
        torch=lambda a: f"torch.cartesian_prod({', '.join(f'tensors[{at}]' for at in range(len(a.tensors)))})",
        paddle="paddle.cartesian_prod(tensors)",
        oneflow=lambda a: lacking("OneFlow 0.9.0 has no cartesian_prod"),
        samples=[dict(tensors=(arange(2), arange(3))), dict(tensors=(arange(2), arange(3), arange(2)))],
    ),
    op(
        "combinations(self, r=2, with_replacement=False)",
        kind="exact",
        torch="torch.combinations(self, r=r, with_replacement=with_replacement)",
        paddle="paddle.combinations(self, r=r, with_replacement=with_replacement)",
        oneflow=lambda a: lacking("OneFlow 0.9.0 has no combinations"),
        samples=[dict(self=arange(4)), dict(self=arange(3), r=3, with_replacement=True)],
    ),
)


def _all(root: str, name: str) -> Callable[[Args], str]:
    """A call with the tensors as arguments and as many results."""

    def spell(a: Args) -> str:
        count = len(a.tensors)
        return _unpacked(f"{root}.{name}({', '.join(f'tensors[{at}]' for at in range(count))})", count)

    return spell


def _meshgrid(root: str) -> Callable[[Args], str]:
    def spell(a: Args) -> str:
        call = f"{root}.meshgrid({', '.join(f'tensors[{at}]' for at in range(len(a.tensors)))}, indexing=indexing)"
        return _unpacked(call, len(a.tensors))

    return spell


def _paddle_meshgrid(a: Args) -> str:
    """Paddle's grid has the axes in the order of the arguments; ``xy`` swaps the first two."""
    call = _all("paddle", "meshgrid")(a)
    if a.indexing == "ij" or len(a.tensors) < 2:
        return call
    return f"[grid.transpose({[1, 0, *range(2, len(a.tensors))]}) for grid in {call}]"


def _atleast(rank: int) -> Op:
    name = f"atleast_{rank}d"
    return op(
        f"{name}(self)",
        kind="exact",
        torch=f"torch.{name}(self)",
        paddle=f"paddle.{name}(self)",
        numpy=f"np.{name}(self)",
        samples=[dict(self=normal()), dict(self=normal(3)), dict(self=transposed(normal(2, 3)))],
    )


def _split(signature: str, sizes: Callable[[Args], list[int]], torch: str, samples: list, **more) -> Op:
    return op(
        signature,
        kind="exact",
        torch=_cut(sizes, torch),
        paddle=_paddle_cut(sizes),
        numpy=_numpy_cut(sizes),
        samples=samples,
        **more,
    )


SPLIT = (
    *(
        _split(
            f"{name}(self, split_size, dim=0)", _sizes, "torch.split(self, split_size, dim=dim)",
            [
                dict(self=arange(4, 3), split_size=2, _outputs=2),
                dict(self=transposed(arange(5, 2)), split_size=2, dim=-1, _outputs=3),
                dict(self=arange(4, 3), split_size=(1, 3), _outputs=2),
                dict(self=arange(4, 3), split_size=4),
            ],
        )
        for name in ("split", "unsafe_split")
    ),
    _split(
        "split_with_sizes(self, split_sizes, dim=0)", _sizes, "torch.split(self, split_sizes, dim=dim)",
        [
            dict(self=arange(4, 3), split_sizes=(1, 3), _outputs=2),
            dict(self=transposed(arange(5, 2)), split_sizes=(2, 0, 3), dim=-1, _outputs=3),
        ],
    ),
    *(
        _split(
            f"{name}(self, chunks, dim=0)", _chunks, "torch.chunk(self, chunks, dim=dim)",
            [
                dict(self=arange(4, 3), chunks=2, _outputs=2),
                dict(self=transposed(arange(5, 2)), chunks=3, dim=-1, _outputs=3),
                dict(self=arange(1, 3), chunks=2),
            ],
        )
        for name in ("chunk", "unsafe_chunk")
    ),
    _split(
        "tensor_split.sections(self, sections, dim=0)", _even, "torch.tensor_split(self, sections, dim=dim)",
        [
            dict(self=arange(5, 3), sections=2, _outputs=2),
            dict(self=transposed(arange(5, 2)), sections=3, dim=-1, _outputs=3),
        ],
    ),
    op(
        "tensor_split.indices(self, indices, dim=0)",
        kind="exact",
        torch="torch.tensor_split(self, indices, dim=dim)",
        paddle="paddle.tensor_split(self, indices, axis=dim)",
        oneflow="flow.tensor_split(self, tuple(indices), dim=dim)",
        numpy="np.split(self, indices, dim)",
        samples=[
            dict(self=arange(5, 3), indices=(1, 3), _outputs=3),
            dict(self=transposed(arange(5, 2)), indices=(2,), dim=-1, _outputs=2),
        ],
    ),
    op(
        "unbind(self, dim=0)",
        kind="exact",
        torch=lambda a: _unpacked("torch.unbind(self, dim=dim)", a.self.shape[a.dim]),
        paddle=lambda a: _unpacked("paddle.unbind(self, axis=dim)", a.self.shape[a.dim]),
        numpy=lambda a: _unpacked("list(np.moveaxis(self, dim, 0))", a.self.shape[a.dim]),
        samples=[
            dict(self=arange(2, 3), _outputs=2),
            dict(self=transposed(arange(2, 3)), dim=-2, _outputs=3),
            dict(self=arange(1, 3)),
        ],
    ),
    op(
        "meshgrid(tensors, indexing='ij')",
        kind="exact",
        torch=_meshgrid("torch"),
        paddle=_paddle_meshgrid,
        numpy=_meshgrid("np"),
        samples=[
            dict(tensors=(arange(2), arange(3)), _outputs=2),
            dict(tensors=(arange(2), arange(3)), indexing="xy", _outputs=2),
        ],
    ),
    op(
        "broadcast_tensors(tensors)",
        kind="exact",
        dims="broadcast",
        torch=_all("torch", "broadcast_tensors"),
        paddle=lambda a: _unpacked("paddle.broadcast_tensors(tensors)", len(a.tensors)),
        numpy=_all("np", "broadcast_arrays"),
        samples=[
            dict(tensors=(normal(2, 1), normal(3)), _outputs=2),
            dict(tensors=(transposed(boolean(2, 3)), boolean(1, 2), boolean()), _outputs=3),
        ],
    ),
    _atleast(1),
    _atleast(2),
    _atleast(3),
)

OPS = JOINED + SPLIT
