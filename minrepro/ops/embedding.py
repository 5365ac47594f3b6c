"""Look-up tables."""

from __future__ import annotations

from minrepro.ops.absent import absent
from minrepro.ops.row import Args, op
from minrepro.ops.sample import integers, normal, values


def _embedding(a: Args) -> str:
    padding = "" if a.padding_idx == -1 else ", padding_idx=padding_idx"
    return f"F.embedding(indices, weight{padding})"


BAG = dict(weight=normal(5, 3), indices=values([1, 2, 4, 3, 2], of="int64"), offsets=values([0, 2], of="int64"))

OPS = (
    op(
        "embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False)",
        kind="exact",
        torch=_embedding,
        paddle="F.embedding(indices, weight)", oneflow=_embedding,
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
            "padding_idx=padding_idx)"
        ),
        oneflow=absent("OneFlow", "embedding_bag"),
        samples=[dict(**BAG, _outputs=4), dict(**BAG, mode=1, _outputs=4)],
        why="neither Paddle nor OneFlow has it",
    ),
    op(
        "_embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=0, sparse=False, "
        "per_sample_weights=None, include_last_offset=False, padding_idx=-1)",
        kind="reduction",
        length=lambda a: a.indices.shape[0],
        torch=(
            "torch._embedding_bag(weight, indices, offsets, scale_grad_by_freq=scale_grad_by_freq, mode=mode, "
            "sparse=sparse, per_sample_weights=per_sample_weights, include_last_offset=include_last_offset, "
            "padding_idx=padding_idx)"
        ),
        oneflow=absent("OneFlow", "embedding_bag"),
        samples=[dict(**BAG, _outputs=4), dict(**BAG, mode=2, _outputs=4)],
        why="`embedding_bag` of a decomposed graph",
    ),
)
