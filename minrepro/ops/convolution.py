"""Convolutions, and the two functions that cut an image into patches and add patches up.

One set of rows per number of spatial axes, made by the same functions; ``convolution`` is what all of them decompose
to.
"""

from __future__ import annotations

import math

from minrepro.ops.phrase import in_layer
from minrepro.ops.row import Args, Op, op
from minrepro.ops.sample import normal, transposed


def _terms(a: Args) -> int:
    """Products that are added up for one output element: input channels of a group times kernel, and the bias."""
    return math.prod(a.weight.shape[1:]) + a.given("bias")


def _transposed_terms(a: Args) -> int:
    return a.weight.shape[0] // a.groups * math.prod(a.weight.shape[2:]) + a.given("bias")


def _batched(a: Args, spatial: int, call: str) -> str:
    """A call for one image on a framework that wants a batch."""
    if len(a.input.shape) == spatial + 2:
        return call
    return call.replace("(input,", "(input.unsqueeze(0),") + ".squeeze(0)"


IMAGE, KERNEL = {1: "s", 2: "s t", 3: "s t u"}, {1: "k", 2: "k l", 3: "k l m"}
"""Letters of the spatial axes in a dim rule: spelled out, since beside ``*b`` a second star would leave both open."""
OPTIONS = "bias=bias, stride=stride, padding=padding, dilation=dilation, groups=groups"
TRANSPOSED = (
    "bias=bias, stride=stride, padding=padding, output_padding=output_padding, groups=groups, dilation=dilation"
)


def _flow_conv(spatial: int):
    """OneFlow's functional form wants numbers; ``"same"`` and ``"valid"`` are words of its layers."""

    def spell(a: Args) -> str:
        if not isinstance(a.padding, str):
            return _batched(a, spatial, f"F.conv{spatial}d(input, weight, {OPTIONS})")
        channels = f"{a.weight.shape[1] * a.groups}, {a.weight.shape[0]}, {list(a.weight.shape[2:])}"
        layer = f"flow.nn.Conv{spatial}d({channels}, {OPTIONS})".replace("bias=bias", f"bias={a.given('bias')}")
        lines = [f"out = {layer}", *in_layer("weight", "weight")]
        lines += in_layer("bias", "bias") if a.given("bias") else []
        call = "out(input)" if len(a.input.shape) == spatial + 2 else "out(input.unsqueeze(0)).squeeze(0)"
        return "\n".join([*lines, f"out = {call}"])

    return spell


def _conv(spatial: int) -> Op:
    one, zero = [1] * spatial, [0] * spatial
    size = (5, 6, 4)[:spatial]
    x, w = normal(2, 4, *size), normal(6, 4, *(3, 2, 3)[:spatial], seed=1)
    return op(
        f"conv{spatial}d(input, weight, bias=None, stride={one}, padding={zero}, dilation={one}, groups=1)",
        kind="reduction",
        dims=f"input: *b c {IMAGE[spatial]}, weight: o c {KERNEL[spatial]}, bias: o",
        length=_terms,
        torch=f"F.conv{spatial}d(input, weight, {OPTIONS})",
        paddle=lambda a: _batched(a, spatial, f"F.conv{spatial}d(input, weight, {OPTIONS})"),
        oneflow=_flow_conv(spatial),
        samples=[
            dict(input=x, weight=w, bias=normal(6, seed=2)),
            dict(input=x, weight=w, stride=(2,) * spatial, padding=(1,) * spatial),
            dict(input=x, weight=w, padding=(2,) * spatial, dilation=(2,) * spatial),
            dict(input=x, weight=normal(6, 2, *(3, 2, 3)[:spatial], seed=1), bias=normal(6, seed=2), groups=2),
            dict(input=normal(4, *size), weight=w),
            dict(input=x, weight=normal(6, 4, *(3,) * spatial, seed=1), bias=normal(6, seed=2), padding="same"),
            dict(input=x, weight=normal(6, 4, *(2,) * spatial, seed=1), padding="same"),
            dict(input=x, weight=w, padding="valid", stride=(2,) * spatial),
            dict(input=transposed(normal(*size, 2, 4), spatial, spatial + 1, *range(spatial)), weight=w),
        ],
        why="OneFlow's layer is one short where padding is 'same' and the kernel is even",
    )


def _conv_transpose(spatial: int) -> Op:
    one, zero, two = [1] * spatial, [0] * spatial, (2,) * spatial
    size = (4, 3, 3)[:spatial]
    x, w = normal(2, 4, *size), normal(4, 3, *(3, 2, 3)[:spatial], seed=1)
    return op(
        f"conv_transpose{spatial}d(input, weight, bias=None, stride={one}, padding={zero}, output_padding={zero}, "
        f"groups=1, dilation={one})",
        kind="reduction",
        dims=f"input: *b c {IMAGE[spatial]}, weight: c o {KERNEL[spatial]}, bias: o",
        length=_transposed_terms,
        torch=f"F.conv_transpose{spatial}d(input, weight, {TRANSPOSED})",
        paddle=lambda a: _batched(a, spatial, f"F.conv{spatial}d_transpose(input, weight, {TRANSPOSED})"),
        oneflow=lambda a: _batched(a, spatial, f"F.conv_transpose{spatial}d(input, weight, {TRANSPOSED})"),
        samples=[
            dict(input=x, weight=w, bias=normal(3, seed=2)),
            dict(input=x, weight=w, stride=two, padding=(1,) * spatial, output_padding=(1,) * spatial),
            dict(input=x, weight=w, bias=normal(6, seed=2), groups=2),
            dict(input=x, weight=w, dilation=two),
            dict(input=x, weight=w, dilation=two, output_padding=(1,) * spatial),
        ],
        why="Paddle refuses an output padding that is smaller than the dilation but not than the stride",
    )


def _convolution(framework: str):
    """The general form picks the named one by rank and direction."""

    def spell(a: Args) -> str:
        spatial = len(a.weight.shape) - 2
        if not a.transposed:
            return f"F.conv{spatial}d(input, weight, {OPTIONS})"
        name = f"conv{spatial}d_transpose" if framework == "paddle" else f"conv_transpose{spatial}d"
        return f"F.{name}(input, weight, {TRANSPOSED})"

    return spell


def _general_terms(a: Args) -> int:
    return _transposed_terms(a) if a.transposed else _terms(a)


OPS = (
    *(_conv(spatial) for spatial in (1, 2, 3)),
    *(_conv_transpose(spatial) for spatial in (1, 2, 3)),
    op(
        "convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, groups)",
        kind="reduction",
        dims="input: b c s*, weight: o c k*, bias: o",
        length=_general_terms,
        torch=_convolution("torch"),
        paddle=_convolution("paddle"),
        samples=[
            dict(
                input=normal(2, 4, 5, 5), weight=normal(6, 4, 3, 3, seed=1), bias=normal(6, seed=2), stride=(2, 2),
                padding=(1, 1), dilation=(1, 1), transposed=False, output_padding=(0, 0), groups=1,
            ),
            dict(
                input=normal(2, 4, 5), weight=normal(6, 2, 3, seed=1), bias=None, stride=(1,),
                padding=(0,), dilation=(2,), transposed=False, output_padding=(0,), groups=2,
            ),
            dict(
                input=normal(2, 4, 3, 3), weight=normal(4, 3, 2, 2, seed=1), bias=None, stride=(2, 2),
                padding=(0, 0), dilation=(1, 1), transposed=True, output_padding=(1, 1), groups=1,
            ),
        ],
        why="every convolution after decomposition",
    ),
    op(
        "im2col(self, kernel_size, dilation, padding, stride)",
        kind="exact",
        torch="F.unfold(self, kernel_size, dilation=dilation, padding=padding, stride=stride)",
        paddle="F.unfold(self, kernel_size, strides=stride, paddings=padding, dilations=dilation)",
        samples=[
            dict(self=normal(2, 3, 4, 5), kernel_size=(2, 3), dilation=(1, 1), padding=(0, 0), stride=(1, 1)),
            dict(self=normal(2, 3, 4, 5), kernel_size=(2, 2), dilation=(2, 1), padding=(1, 0), stride=(2, 1)),
        ],
        why="`F.unfold`",
    ),
    op(
        "col2im(self, output_size, kernel_size, dilation, padding, stride)",
        kind="reduction",
        length=lambda a: math.prod(a.kernel_size),
        torch="F.fold(self, output_size, kernel_size, dilation=dilation, padding=padding, stride=stride)",
        paddle="F.fold(self, output_size, kernel_size, strides=stride, paddings=padding, dilations=dilation)",
        samples=[
            dict(
                self=normal(2, 12, 12), output_size=(4, 5), kernel_size=(2, 2), dilation=(1, 1), padding=(0, 0),
                stride=(1, 1),
            ),
            dict(
                self=normal(2, 12, 16), output_size=(4, 5), kernel_size=(2, 2), dilation=(2, 1), padding=(1, 0),
                stride=(1, 1),
            ),
            dict(
                self=normal(2, 12, 4), output_size=(4, 4), kernel_size=(2, 2), dilation=(1, 1), padding=(0, 0),
                stride=(2, 2),
            ),
        ],
        why="`F.fold`",
    ),
)
