"""Normalisation."""

from __future__ import annotations

import math

from minrepro.ops.row import op
from minrepro.ops.sample import normal

OPS = (
    op(
        "layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05)",
        kind="reduction",
        dims="input: *b n*, normalized_shape: n*, weight: n*, bias: n*",
        length=lambda a: math.prod(a.normalized_shape),
        torch="F.layer_norm(input, normalized_shape, weight=weight, bias=bias, eps=eps)",
        paddle="F.layer_norm(input, normalized_shape, weight=weight, bias=bias, epsilon=eps)",
        samples=[
            dict(input=normal(2, 3, 5), normalized_shape=(5,), weight=normal(5, seed=1), bias=normal(5, seed=2)),
            dict(input=normal(2, 3, 5), normalized_shape=(3, 5), eps=1e-6),
        ],
    ),
)
