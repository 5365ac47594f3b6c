"""Look-up tables."""

from __future__ import annotations

from typing import Callable

from minrepro.errors import Unsupported
from minrepro.ops.row import Args, op
from minrepro.ops.sample import integers, normal, values


def _embedding(a: Args) -> str:
    padding = "" if a.padding_idx == -1 else ", padding_idx=padding_idx"
    return f"F.embedding(indices, weight{padding})"


def _bag(number: str, add: str) -> Callable[[Args], str]:
    """A bag of rows as its parts: look the rows up, add each one to the bag that its position falls into.

    Args:
        number: text of the bag of every position.
        add: template that adds `{rows}` to `{zeros}` at ``bag``; the rows have `{width}` columns.
    """

    def spell(a: Args) -> str:
        if a.mode == 2 or a.padding_idx not in (None, -1):
            raise Unsupported("bags are composed of their rows: spelled for sum and mean, without a padding index")
        (count,), bags = a.indices.shape, a.offsets.shape[0] - bool(a.include_last_offset)
        width = a.weight.shape[1]
        lines = [f"bag = {number.format(count=count)}", "rows = F.embedding(indices, weight)"]
        if a.given("per_sample_weights"):
            lines.append("rows = rows * per_sample_weights.unsqueeze(1)")
        lines.append("out = " + add.format(shape=[bags, width], rows="rows", width=width))
        if a.mode == 1:
            ones = f"{'paddle' if 'paddle' in add else 'flow'}.ones_like(rows)"
            lines.append("filled = " + add.format(shape=[bags, width], rows=ones, width=width))
            lines.append("out = out / filled.clip(min=1)")
        return "\n".join(lines)

    return spell


_paddle_bag = _bag(
    "paddle.searchsorted(offsets, paddle.arange({count}), right=True) - 1",
    "paddle.zeros({shape}, dtype=weight.dtype).index_add(bag, 0, {rows})",
)
_flow_bag = _bag(
    "(flow.arange({count}).unsqueeze(1) >= offsets.unsqueeze(0)).to(flow.int64).sum(1) - 1",
    "flow.scatter_add(flow.zeros({shape}, dtype=weight.dtype), 0, bag.unsqueeze(1).expand(-1, {width}), {rows})",
)


BAG = dict(weight=normal(5, 3), indices=values([1, 2, 4, 3, 2], of="int64"), offsets=values([0, 2], of="int64"))

OPS = (
    op(
        "embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False)",
        kind="exact",
        torch=_embedding,
        paddle="F.embedding(indices, weight)", oneflow=_embedding,
        # Paddle's zeros in the result do not show in the gradient, which leaves the padding row alone as torch's does.
        paddle_gradient=lambda a: (
            "F.embedding(indices, weight)" if a.padding_idx in (None, -1)
            else "F.embedding(indices, weight, padding_idx=padding_idx)"
        ),
        numpy="weight[indices]",
        samples=[
            dict(weight=normal(5, 3), indices=integers(2, 4)),
            dict(weight=normal(5, 3), indices=values([1, 4, 2], of="int64"), padding_idx=0),
            dict(weight=normal(5, 3), indices=values([1, 0, 2], of="int64"), padding_idx=0),
            dict(weight=normal(5, 3), indices=integers(4, of="int32")),
        ],
        why=(
            "-1 stands for no padding index; torch keeps gradients from that row and looks it up as it is, Paddle's "
            "documentation promises zeros for it"
        ),
    ),
    op(
        "embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False, "
        "per_sample_weights=None, include_last_offset=False, padding_idx=None)",
        kind="reduction",
        length=lambda a: a.indices.shape[0],
        torch=(
            "torch.embedding_bag(weight, indices, offsets, scale_grad_by_freq=scale_grad_by_freq, mode=mode, "
            "sparse=sparse, per_sample_weights=per_sample_weights, include_last_offset=include_last_offset, "
            "padding_idx=padding_idx)[0]"
        ),
        paddle=_paddle_bag, oneflow=_flow_bag,
        samples=[dict(**BAG), dict(**BAG, mode=1)],
        why="the other results serve the backward only; neither Paddle nor OneFlow has it, so it is composed",
    ),
    op(
        "_embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False, "
        "per_sample_weights=None, include_last_offset=False, padding_idx=-1)",
        kind="reduction",
        length=lambda a: a.indices.shape[0],
        torch=(
            "torch._embedding_bag(weight, indices, offsets, scale_grad_by_freq=scale_grad_by_freq, mode=mode, "
            "sparse=sparse, per_sample_weights=per_sample_weights, include_last_offset=include_last_offset, "
            "padding_idx=padding_idx)[0]"
        ),
        paddle=_paddle_bag, oneflow=_flow_bag,
        samples=[dict(**BAG), dict(**BAG, mode=2)],
        why="`embedding_bag` of a decomposed graph",
    ),
)
