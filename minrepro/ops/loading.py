"""Loading of weights, where the source is a NumPy array, as when a checkpoint of another framework is read.

The layout of that array is the point: a transposed one has the right shape and its items elsewhere in memory.
"""

from __future__ import annotations

import numpy as np

from minrepro.ir.tensor import Tensor
from minrepro.ops.phrase import SELF, written
from minrepro.ops.row import Args, op
from minrepro.ops.sample import normal, transposed


def _zeros(*shape: int) -> Tensor:
    return Tensor(np.zeros(shape, np.float32))


def _paddle_layer_norm(a: Args) -> str:
    kept_flat = len(a.normalized_shape) > 1
    return (
        "layer = paddle.nn.LayerNorm(normalized_shape, bias_attr=False)\n"
        "layer.set_state_dict({'weight': weight})\n"
        f"out = layer.weight.detach(){'.reshape(normalized_shape)' if kept_flat else ''}"
    )


OPS = (
    op(
        "copy_.numpy(self, src)",
        kind="exact",
        dims="self: *s, src: *s",
        arrays=("src",),
        mutates=SELF,
        torch=written("self.copy_(torch.from_numpy(src))"),
        oneflow=written("self.copy_(src)"),
        paddle=written("self.set_value(src)"),
        numpy=written("np.copyto(self, src)"),
        samples=[
            dict(self=_zeros(2, 3), src=normal(2, 3)),
            dict(self=_zeros(3, 2), src=transposed(normal(2, 3))),
            dict(self=_zeros(2, 2), src=transposed(normal(2, 2))),
        ],
        why="OneFlow 0.9.0 refuses a destination that is not contiguous.",
    ),
    op(
        "load_transposed(self, src)",
        kind="exact",
        dims="self: i o, src: o i",
        arrays=("src",),
        mutates=SELF,
        torch=written("self.t().copy_(torch.from_numpy(src))"),
        oneflow=written("self.t().copy_(src)"),
        paddle=written("self.t().set_value(src)"),
        numpy=written("np.copyto(self.T, src)"),
        samples=[dict(self=_zeros(2, 3), src=normal(3, 2)), dict(self=_zeros(3, 2), src=transposed(normal(3, 2)))],
        why="A weight stored the other way round, through a view. Paddle 3.3.1 fills the memory in the order of the "
        "array, which only the owner of the memory shows; OneFlow 0.9.0 refuses.",
    ),
    op(
        "load_state_dict(self, src)",
        kind="exact",
        dims="self: *s, src: *s",
        arrays=("src",),
        mutates=SELF,
        torch="layer = torch.nn.Module()\n"
        "layer.weight = torch.nn.Parameter(self, requires_grad=False)\n"
        "layer.load_state_dict({'weight': torch.from_numpy(src)})\n"
        "out = layer.weight.detach()",
        oneflow="layer = flow.nn.Module()\n"
        "layer.weight = flow.nn.Parameter(self, requires_grad=False)\n"
        "layer.load_state_dict({'weight': src})\n"
        "out = layer.weight.detach()",
        paddle="layer = paddle.nn.Layer()\n"
        "layer.weight = layer.create_parameter(\n"
        "    self.shape, dtype=self.dtype, default_initializer=paddle.nn.initializer.Assign(self)\n"
        ")\n"
        "layer.set_state_dict({'weight': src})\n"
        "out = layer.weight.detach()",
        numpy="out = np.array(src, dtype=self.dtype)",
        samples=[
            dict(self=_zeros(2, 3), src=normal(2, 3)),
            dict(self=_zeros(3, 2), src=transposed(normal(2, 3))),
            dict(self=_zeros(2, 1, 3, 2), src=transposed(normal(3, 2, 1, 2), 3, 2, 0, 1)),
        ],
        why="The smallest layer with one parameter of that shape, loaded with the framework's own call.",
    ),
    op(
        "load_layer_norm(weight, normalized_shape)",
        kind="exact",
        dims="weight: n*, normalized_shape: n*",
        arrays=("weight",),
        torch="layer = torch.nn.LayerNorm(normalized_shape, bias=False)\n"
        "layer.load_state_dict({'weight': torch.from_numpy(weight)})\n"
        "out = layer.weight.detach()",
        oneflow="layer = flow.nn.LayerNorm(normalized_shape)\n"
        "layer.load_state_dict({'weight': weight}, strict=False)\n"
        "out = layer.weight.detach()",
        paddle=_paddle_layer_norm,
        numpy="np.array(weight)",
        samples=[
            dict(weight=normal(3), normalized_shape=(3,)),
            dict(weight=normal(2, 3), normalized_shape=(2, 3)),
            dict(weight=transposed(normal(3, 2)), normalized_shape=(2, 3)),
        ],
        why="Paddle 3.3.1 keeps the weight flattened and skips an array with two axes, with a warning only.",
    ),
)
