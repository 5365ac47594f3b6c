"""Pooling: one set of rows per number of spatial axes, made by the same functions.

ATen's empty stride stands for the kernel size. Paddle asks for a batch, has no dilation, and says ``exclusive`` where
torch says the opposite, ``count_include_pad``. OneFlow has torch's form, and aborts the process without a batch axis.
"""

from __future__ import annotations

import math

from minrepro.errors import Unsupported
from minrepro.ops.row import Args, Op, Spelling, op
from minrepro.ops.sample import arange, normal


def _sized(spatial: int, a: Args, text: str) -> str:
    """A call on one image for a framework that asks for a batch."""
    if len(a.self.shape) == spatial + 2:
        return text
    return text.replace("(self,", "(self.unsqueeze(0),") + ".squeeze(0)"


def _stride(a: Args) -> str:
    return ", stride=stride" if a.stride else ""


def _flow(spatial: int, spell: Spelling) -> Spelling:
    """torch's spelling with a batch axis."""
    return lambda a: _sized(spatial, a, spell(a))


def _max_pool(spatial: int, indices: bool) -> Spelling:
    more = ", return_indices=True" if indices else ""
    options = f"padding=padding, dilation=dilation, ceil_mode=ceil_mode{more}"
    return lambda a: f"F.max_pool{spatial}d(self, kernel_size{_stride(a)}, {options})"


def _paddle_max_pool(spatial: int, indices: bool) -> Spelling:
    def spell(a: Args) -> str:
        if any(step != 1 for step in (a.dilation if isinstance(a.dilation, tuple) else (a.dilation,))):
            raise Unsupported("Paddle's max pooling has no dilation; compare on another backend")
        text = f"F.max_pool{spatial}d(self, kernel_size{_stride(a)}, padding=padding, ceil_mode=ceil_mode)"
        if not indices:
            return _sized(spatial, a, text)
        if len(a.self.shape) != spatial + 2:
            raise Unsupported("Paddle's max pooling with a mask asks for a batch; add the axis in the model")
        return f"out = {text[:-1]}, return_mask=True)\nout = [out[0], out[1].astype('int64')]"

    return spell


def _avg_pool(spatial: int) -> Spelling:
    options = "padding=padding, ceil_mode=ceil_mode, count_include_pad=count_include_pad"
    options += ", divisor_override=divisor_override" if spatial > 1 else ""
    return lambda a: f"F.avg_pool{spatial}d(self, kernel_size{_stride(a)}, {options})"


def _paddle_avg_pool(spatial: int) -> Spelling:
    def spell(a: Args) -> str:
        options = f"padding=padding, exclusive={not a.count_include_pad}, ceil_mode=ceil_mode"
        options += ", divisor_override=divisor_override" if spatial > 1 else ""
        return _sized(spatial, a, f"F.avg_pool{spatial}d(self, kernel_size{_stride(a)}, {options})")

    return spell


def _adaptive(spatial: int) -> Spelling:
    return lambda a: _sized(spatial, a, f"F.adaptive_avg_pool{spatial}d(self, output_size)")


def _window(a: Args) -> int:
    """Largest number of inputs that meet in one output of an adaptive average."""
    sizes = a.self.shape[-len(a.output_size) :]
    return math.prod(-(-size // max(out, 1)) + 1 for size, out in zip(sizes, a.output_size))


def _max_rows(spatial: int) -> tuple[Op, ...]:
    zero, one = ([0], [1]) if spatial == 1 else (0, 1)
    image = normal(2, 3, *(7, 6, 5)[:spatial])
    some, two = (3, 2, 2)[:spatial], (2,) * spatial
    ones = (1,) * spatial
    samples = [
        dict(self=image, kernel_size=two),
        dict(self=image, kernel_size=some, stride=ones, padding=ones),
        dict(self=image, kernel_size=two, stride=two, ceil_mode=True),
        dict(self=image, kernel_size=two, stride=ones, dilation=two),
    ]
    form = f"kernel_size, stride=[], padding={zero}, dilation={one}, ceil_mode=False"
    return (
        op(
            f"max_pool{spatial}d(self, {form})",
            kind="exact",
            torch=_max_pool(spatial, False),
            oneflow=_flow(spatial, _max_pool(spatial, False)),
            paddle=_paddle_max_pool(spatial, False),
            samples=[*samples, dict(self=normal(3, *(7, 6, 5)[:spatial]), kernel_size=two)],
            why="Paddle has no dilation, and accepts a kernel that is larger than the image",
        ),
        op(
            f"max_pool{spatial}d_with_indices(self, {form})",
            kind="index",
            torch=_max_pool(spatial, True),
            paddle=_paddle_max_pool(spatial, True),
            samples=[dict(sample, _outputs=2) for sample in samples],
            why="Paddle's indices are int32",
        ),
    )


def _avg_row(spatial: int) -> Op:
    zero = [0] if spatial == 1 else 0
    divisor = ", divisor_override=None" if spatial > 1 else ""
    image, small = normal(2, 3, *(7, 6, 5)[:spatial]), arange(1, 1, *(3,) * spatial)
    some, two, ones = (3, 2, 2)[:spatial], (2,) * spatial, (1,) * spatial
    samples = [
        dict(self=image, kernel_size=two),
        dict(self=image, kernel_size=some, stride=ones, padding=ones),
        dict(self=image, kernel_size=some, stride=ones, padding=ones, count_include_pad=False),
        dict(self=image, kernel_size=two, stride=two, ceil_mode=True),
        dict(self=small, kernel_size=two, stride=two, padding=ones, ceil_mode=True, count_include_pad=False),
        dict(self=normal(3, *(7, 6, 5)[:spatial]), kernel_size=two),
    ]
    if spatial > 1:
        samples.append(dict(self=image, kernel_size=two, divisor_override=3))
        padded = dict(self=image, kernel_size=some, stride=ones, padding=ones, divisor_override=1)
        samples += [padded, dict(padded, count_include_pad=False)]
    return op(
        f"avg_pool{spatial}d(self, kernel_size, stride=[], padding={zero}, ceil_mode=False, "
        f"count_include_pad=True{divisor})",
        kind="reduction",
        length=lambda a: math.prod(a.kernel_size) ** (spatial if len(a.kernel_size) == 1 else 1),
        torch=_avg_pool(spatial),
        oneflow=_flow(spatial, _avg_pool(spatial)),
        paddle=_paddle_avg_pool(spatial),
        samples=samples,
        why="Paddle keeps windows that start beyond the image, and loses the divisor where padding is excluded",
    )


def _adaptive_rows(spatial: int) -> tuple[Op, ...]:
    image = normal(2, 3, *(7, 6, 5)[:spatial])
    samples = [
        dict(self=image, output_size=(1,) * spatial),
        dict(self=image, output_size=(3, 4, 2)[:spatial]),
        dict(self=normal(3, *(7, 6, 5)[:spatial]), output_size=(2,) * spatial),
    ]
    names = [f"adaptive_avg_pool{spatial}d", *([f"_adaptive_avg_pool{spatial}d"] if spatial > 1 else [])]
    averages = [
        op(
            f"{name}(self, output_size)",
            kind="reduction",
            length=_window,
            torch=f"F.adaptive_avg_pool{spatial}d(self, output_size)",
            paddle=_adaptive(spatial),
            oneflow=_adaptive(spatial),
            samples=samples,
        )
        for name in names
    ]
    maximum = op(
        f"adaptive_max_pool{spatial}d(self, output_size)",
        kind="index",
        torch=f"F.adaptive_max_pool{spatial}d(self, output_size, return_indices=True)",
        paddle=(
            f"out = F.adaptive_max_pool{spatial}d(self, output_size, return_mask=True)\n"
            "out = [out[0], out[1].astype('int64')]"
        ),
        samples=[dict(sample, _outputs=2) for sample in samples[:2]],
        why="Paddle's indices are int32",
    )
    return (*averages, maximum)


OPS = tuple(
    row for spatial in (1, 2, 3) for row in (*_max_rows(spatial), _avg_row(spatial), *_adaptive_rows(spatial))
)
