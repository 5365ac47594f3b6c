"""Functions that torch writes in Python on top of ATen, and that other frameworks have as kernels of their own.

A model that calls one of them is compared twice: by what torch makes of it, and here by what a port would call. The
names are those of `torch.nn.functional`.
"""

from __future__ import annotations

import math

from minrepro.ops.absent import absent
from minrepro.ops.row import op
from minrepro.ops.sample import normal, transposed, values

AXIS = "np.sum(np.abs(input) ** p, axis=dim, keepdims=True) ** (1 / p)"

OPS = (
    op(
        "normalize(input, p=2.0, dim=1, eps=1e-12)",
        kind="reduction",
        length=lambda a: a.input.shape[a.dim] if isinstance(a.dim, int) else math.prod(a.input.shape),
        torch="F.normalize(input, p=p, dim=dim, eps=eps)",
        oneflow="F.normalize(input, p=p, dim=dim, eps=eps)",
        paddle="F.normalize(input, p=p, axis=dim, epsilon=eps)",
        numpy=f"input / np.maximum({AXIS}, eps)",
        samples=[
            dict(input=normal(2, 3)),
            dict(input=normal(2, 3, 4), p=3.0, dim=-1),
            dict(input=transposed(normal(3, 2)), p=1.0, dim=0),
            dict(input=values([[0.0, 0.0], [3.0, 4.0]]), eps=1e-6),
        ],
        why="OneFlow 0.9.0 dies where the axis is empty.",
    ),
    op(
        "softsign(input)",
        kind="faithful",
        torch="F.softsign(input)",
        paddle="F.softsign(input)",
        numpy="input / (np.abs(input) + 1)",
        samples=[dict(input=normal(2, 3)), dict(input=transposed(normal(3, 2))), dict(input=values([0.0, -1.0, 1e30]))],
    ),
    op(
        "tanhshrink(input)",
        kind="faithful",
        torch="F.tanhshrink(input)",
        paddle="F.tanhshrink(input)",
        oneflow=absent("OneFlow", "tanhshrink"),
        numpy="input - np.tanh(input)",
        samples=[dict(input=normal(2, 3)), dict(input=transposed(normal(3, 2)))],
    ),
    op(
        "local_response_norm(input, size, alpha=0.0001, beta=0.75, k=1.0)",
        kind="reduction",
        length=lambda a: a.size,
        torch="F.local_response_norm(input, size, alpha=alpha, beta=beta, k=k)",
        paddle="F.local_response_norm(input, size, alpha=alpha, beta=beta, k=k)",
        oneflow=absent("OneFlow", "local_response_norm"),
        samples=[
            dict(input=normal(2, 5, 4), size=3),
            dict(input=normal(1, 4, 3, 2), size=2, alpha=0.1, beta=0.5, k=2.0),
        ],
    ),
)
