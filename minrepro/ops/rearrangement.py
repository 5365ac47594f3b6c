"""Copies in another arrangement: flips, repetition, padding, pixel shuffles, diagonals, and writes into a copy."""

from __future__ import annotations

from minrepro.ir.tensor import CONTIGUOUS
from minrepro.ops.phrase import axes, lacking, ranged
from minrepro.ops.row import Args, Op, Spelling, op
from minrepro.ops.sample import arange, normal, transposed, values

FAR = 9223372036854775807


def _roll(root: str, shift: str, axis: str) -> Spelling:
    return lambda a: f"{root}.roll(self, {shift}{f', {axis}' if a.dims not in (None, ()) else ''})"


def _rot90(a: Args) -> str:
    """A quarter turn is a flip and a transposition."""
    first, second, turns = a.dims[0], a.dims[1], a.k % 4
    if turns == 0:
        return "self.clone()"
    if turns == 2:
        return f"flow.flip(self, [{first}, {second}])"
    return f"flow.flip(self, [{second if turns == 1 else first}]).transpose({first}, {second})"


def _numpy_unshuffle(a: Args) -> str:
    *front, channels, height, width = a.self.shape
    factor, rank = a.downscale_factor, len(front)
    split = [*front, channels, height // factor, factor, width // factor, factor]
    order = [*range(rank + 1), rank + 2, rank + 4, rank + 1, rank + 3]
    merged = [*front, channels * factor**2, height // factor, width // factor]
    return f"self.reshape({split}).transpose({order}).reshape({merged})"


FLIPPED = (
    op(
        "flip(self, dims)",
        kind="exact",
        torch="torch.flip(self, dims)",
        paddle="paddle.flip(self, dims)",
        numpy=lambda a: f"np.flip(self, {axes(a.dims)})",
        samples=[dict(self=arange(2, 3), dims=(0,)), dict(self=transposed(arange(2, 3, 4)), dims=(-1, 0))],
    ),
    op(
        "fliplr(self)",
        kind="exact",
        torch="torch.fliplr(self)",
        paddle="paddle.flip(self, [1])",
        oneflow="flow.flip(self, [1])",
        numpy="np.fliplr(self)",
        samples=[dict(self=arange(2, 3)), dict(self=transposed(arange(2, 3, 4)))],
    ),
    op(
        "flipud(self)",
        kind="exact",
        torch="torch.flipud(self)",
        paddle="paddle.flip(self, [0])",
        oneflow="flow.flip(self, [0])",
        numpy="np.flipud(self)",
        samples=[dict(self=arange(2, 3)), dict(self=transposed(arange(2, 3, 4)))],
    ),
    op(
        "roll(self, shifts, dims=[])",
        kind="exact",
        torch=_roll("torch", "shifts", "dims"),
        paddle=_roll("paddle", "shifts", "dims"),
        numpy=lambda a: f"np.roll(self, {a.shifts}, {axes(a.dims)})",
        samples=[
            dict(self=arange(4, 3), shifts=(1,), dims=(0,)),
            dict(self=transposed(arange(4, 3)), shifts=(-2, 1), dims=(-1, 0)),
            dict(self=arange(2, 3), shifts=(2,)),
        ],
        why="OneFlow 0.9.0 rolls by the wrong amount along a negative dim.",
    ),
    op(
        "rot90(self, k=1, dims=[0, 1])",
        kind="exact",
        torch="torch.rot90(self, k, dims)",
        paddle="paddle.rot90(self, k, dims)",
        oneflow=_rot90,
        numpy="np.rot90(self, k, dims)",
        samples=[
            dict(self=arange(2, 3)),
            dict(self=transposed(arange(2, 3, 4)), k=-1, dims=(1, 2)),
            dict(self=arange(2, 3), k=2),
        ],
    ),
)


REPEATED = (
    op(
        "repeat(self, repeats)",
        kind="exact",
        torch="self.repeat(repeats)",
        paddle="paddle.tile(self, repeats)",
        numpy="np.tile(self, repeats)",
        samples=[dict(self=arange(2, 3), repeats=(2, 1)), dict(self=transposed(arange(2, 3)), repeats=(2, 1, 3))],
    ),
    op(
        "tile(self, dims)",
        kind="exact",
        torch="torch.tile(self, dims)",
        paddle="paddle.tile(self, dims)",
        numpy="np.tile(self, dims)",
        samples=[dict(self=arange(2, 3), dims=(2, 1)), dict(self=transposed(arange(2, 3)), dims=(2,))],
    ),
    op(
        "repeat_interleave(self, repeats, dim=None)",
        kind="exact",
        torch="torch.repeat_interleave(self, repeats, dim=dim)",
        paddle="paddle.repeat_interleave(self, repeats, axis=dim)",
        numpy="np.repeat(self, repeats, axis=dim)",
        samples=[
            dict(self=arange(2, 3), repeats=2, dim=1),
            dict(self=transposed(arange(2, 3)), repeats=values([1, 0, 2], "int64"), dim=-2),
            dict(self=arange(2, 3), repeats=2),
        ],
    ),
)


def _widths(a: Args, pad: tuple[int, ...]) -> str:
    """ATen counts the pairs from the last axis, NumPy wants one per axis."""
    pairs = [(pad[at], pad[at + 1]) for at in range(0, len(pad), 2)]
    return str([(0, 0)] * (len(a.self.shape) - len(pairs)) + pairs[::-1])


def _numpy_pad(a: Args) -> str:
    if min(a.pad, default=0) < 0:
        lacking("np.pad does not crop")
    mode = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}.get(getattr(a, "mode", ""))
    fill = f", constant_values={a.value}" if a.given("value") else ""
    return f"np.pad(self, {_widths(a, a.pad)}{f', mode={mode!r}' if mode else fill})"


def _paddle_pad(a: Args) -> str:
    """Paddle counts a full list of pads from the first axis, unless it is told not to."""
    call = f"F.pad(self, pad, mode={getattr(a, 'mode', 'constant')!r}, value=value"
    return call + (", pad_from_left_axis=False)" if len(a.pad) == 2 * len(a.self.shape) else ")")


def _oneflow_pad(a: Args) -> str:
    if getattr(a, "mode", "") == "circular":
        lacking("OneFlow 0.9.0 has no circular padding")
    return f"F.pad(self, pad, mode={getattr(a, 'mode', 'constant')!r}, value={'value' if a.given('value') else '0'})"


def _edge_pad(aten: str, rank: int, mode: str) -> Op:
    width, image = 2 * rank, (1, 2, *(4, 5, 3)[:rank])
    numpy = "edge" if mode == "replicate" else mode
    return op(
        f"{aten}_pad{rank}d(self, padding)",
        kind="exact",
        torch=f"F.pad(self, padding, mode={mode!r})",
        paddle=f"F.pad(self, padding, mode={mode!r})",
        numpy=lambda a: f"np.pad(self, {_widths(a, a.padding)}, mode={numpy!r})",
        samples=[
            dict(self=normal(*image), padding=(1,) * width),
            dict(self=transposed(normal(*image[::-1])), padding=(2, 0, 1, 1, 0, 2)[:width]),
        ],
    )


PADDED = (
    op(
        "pad(self, pad, mode='constant', value=None)",
        kind="exact",
        torch="F.pad(self, pad, mode=mode, value=value)",
        paddle=_paddle_pad,
        oneflow=_oneflow_pad,
        numpy=_numpy_pad,
        samples=[
            dict(self=normal(2, 3), pad=(1, 2)),
            dict(self=transposed(normal(2, 3)), pad=(0, 1, 2, 0), value=1.5),
            dict(self=normal(1, 2, 4), pad=(2, 1), mode="reflect"),
            dict(self=normal(1, 2, 4, 3), pad=(1, 1, 2, 0), mode="replicate"),
            dict(self=normal(1, 2, 4), pad=(1, 2), mode="circular"),
            dict(self=normal(1, 1, 4), pad=(-1, 1)),
        ],
    ),
    op(
        "constant_pad_nd(self, pad, value=0)",
        kind="exact",
        torch="F.pad(self, pad, value=value)",
        paddle=_paddle_pad,
        oneflow=_oneflow_pad,
        numpy=_numpy_pad,
        samples=[
            dict(self=normal(2, 3), pad=(1, 2)),
            dict(self=transposed(normal(1, 2, 4)), pad=(0, 1, 2, 0), value=-1.0),
        ],
    ),
    *(
        _edge_pad(aten, rank, mode)
        for aten, mode in (("reflection", "reflect"), ("replication", "replicate"))
        for rank in (1, 2, 3)
    ),
    op(
        "pixel_shuffle(self, upscale_factor)",
        kind="exact",
        torch="F.pixel_shuffle(self, upscale_factor)",
        paddle="F.pixel_shuffle(self, upscale_factor)",
        oneflow="flow.nn.PixelShuffle(upscale_factor)(self)",
        samples=[
            dict(self=arange(1, 8, 2, 3), upscale_factor=2),
            dict(self=transposed(arange(2, 1, 4, 1)), upscale_factor=2),
        ],
    ),
    op(
        "pixel_unshuffle(self, downscale_factor)",
        kind="exact",
        torch="F.pixel_unshuffle(self, downscale_factor)",
        numpy=_numpy_unshuffle,
        paddle="F.pixel_unshuffle(self, downscale_factor)",
        oneflow=lambda a: lacking("OneFlow 0.9.0 has no pixel_unshuffle"),
        samples=[
            dict(self=arange(1, 2, 4, 6), downscale_factor=2),
            dict(self=transposed(arange(2, 4, 1, 1)), downscale_factor=2),
        ],
    ),
    op(
        "channel_shuffle(self, groups)",
        kind="exact",
        torch="F.channel_shuffle(self, groups)",
        paddle="F.channel_shuffle(self, groups)",
        oneflow=lambda a: lacking("OneFlow 0.9.0 has no channel_shuffle"),
        samples=[
            dict(self=arange(1, 6, 2, 1), groups=3),
            dict(self=transposed(arange(1, 2, 4, 1)), groups=2),
        ],
    ),
)


def _written_to_copy(index: str) -> dict[str, str]:
    """No own call: the copy is written to through a subscript."""
    return {
        "oneflow": f"out = self.clone()\nout[{index}] = src\nout = out",
        "numpy": f"out = self.copy()\nout[{index}] = src\nout = out",
    }


def _into_slice(backend: str) -> Spelling:
    return lambda a: _written_to_copy(ranged(a))[backend]


def _into_row(backend: str) -> Spelling:
    return lambda a: _written_to_copy(", ".join([":"] * (a.dim % len(a.self.shape)) + [str(a.index)]))[backend]


def _paddle_into_slice(a: Args) -> str:
    extent = a.self.shape[a.dim]
    end = extent if a.end is None else min(a.end, extent)
    return f"paddle.slice_scatter(self, src, [dim], [{a.start or 0}], [{end}], [step])"


def _dense(a: Args) -> None:
    """Refuse a view: torch means strides of its memory, of which a clone elsewhere is a dense copy."""
    if a.self.layout != CONTIGUOUS:
        lacking("the strides are those of the view's memory, which a dense clone does not have")


def _paddle_into_strided(a: Args) -> str:
    _dense(a)
    offset = ", storage_offset * self.element_size()" if a.storage_offset else ""
    return f"out = self.clone()\npaddle.as_strided(out, size, stride{offset}).set_value(src)\nout = out"


def _flow_into_strided(a: Args) -> str:
    _dense(a)
    return f"out = self.clone()\nflow.as_strided(out, size, stride, {a.storage_offset or 0}).copy_(src)\nout = out"


DIAGONALS = (
    op(
        "diag(self, diagonal=0)",
        kind="exact",
        torch="torch.diag(self, diagonal)",
        paddle="paddle.diag(self, diagonal)",
        numpy="np.diag(self, diagonal)",
        samples=[dict(self=normal(3)), dict(self=transposed(normal(2, 3)), diagonal=1), dict(self=normal(2), diagonal=-1)],
    ),
    op(
        "diagflat(self, offset=0)",
        kind="exact",
        torch="torch.diagflat(self, offset)",
        paddle="paddle.diagflat(self, offset)",
        oneflow="flow.diag(flow.flatten(self), offset)",
        numpy="np.diagflat(self, offset)",
        samples=[dict(self=normal(3)), dict(self=transposed(normal(1, 2)), offset=-1)],
    ),
    op(
        "diag_embed(self, offset=0, dim1=-2, dim2=-1)",
        kind="exact",
        torch="torch.diag_embed(self, offset=offset, dim1=dim1, dim2=dim2)",
        paddle="paddle.diag_embed(self, offset=offset, dim1=dim1, dim2=dim2)",
        oneflow=lambda a: lacking("OneFlow 0.9.0 has no diag_embed"),
        samples=[dict(self=normal(2, 3)), dict(self=transposed(normal(2, 3)), offset=1, dim1=0, dim2=2)],
    ),
    op(
        "slice_scatter(self, src, dim=0, start=None, end=None, step=1)",
        kind="exact",
        torch="torch.slice_scatter(self, src, dim=dim, start=start, end=end, step=step)",
        paddle=_paddle_into_slice,
        oneflow=_into_slice("oneflow"),
        numpy=_into_slice("numpy"),
        samples=[
            dict(self=normal(4, 3), src=normal(2, 3, seed=1), start=1, end=3),
            dict(self=transposed(normal(5, 2)), src=normal(2, 3, seed=1), dim=-1, start=0, end=FAR, step=2),
        ],
        why="Paddle 3.3.1 wants the source as wide as the destination if the axis is negative.",
    ),
    op(
        "select_scatter(self, src, dim, index)",
        kind="exact",
        torch="torch.select_scatter(self, src, dim, index)",
        paddle="paddle.select_scatter(self, src, dim, index)",
        oneflow=_into_row("oneflow"),
        numpy=_into_row("numpy"),
        samples=[
            dict(self=normal(4, 3), src=normal(3, seed=1), dim=0, index=1),
            dict(self=transposed(normal(4, 3)), src=normal(3, seed=1), dim=-1, index=-1),
        ],
    ),
    op(
        "diagonal_scatter(self, src, offset=0, dim1=0, dim2=1)",
        kind="exact",
        torch="torch.diagonal_scatter(self, src, offset=offset, dim1=dim1, dim2=dim2)",
        paddle="paddle.diagonal_scatter(self, src, offset=offset, axis1=dim1, axis2=dim2)",
        oneflow="out = self.clone()\nflow.diagonal(out, offset, dim1, dim2).copy_(src)\nout = out",
        samples=[
            dict(self=normal(3, 3), src=normal(3, seed=1)),
            dict(self=transposed(normal(4, 3)), src=normal(2, seed=1), offset=-1),
        ],
    ),
    op(
        "as_strided_scatter(self, src, size, stride, storage_offset=None)",
        kind="exact",
        torch="torch.as_strided_scatter(self, src, size, stride, storage_offset)",
        paddle=_paddle_into_strided,
        oneflow=_flow_into_strided,
        samples=[
            dict(self=normal(3, 4), src=normal(2, 2, seed=1), size=(2, 2), stride=(4, 1)),
            dict(self=normal(3, 4), src=normal(3, 2, seed=1), size=(3, 2), stride=(1, 4), storage_offset=1),
        ],
    ),
)

OPS = FLIPPED + REPEATED + PADDED + DIAGONALS
