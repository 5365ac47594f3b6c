"""Distances and similarities between rows."""

from __future__ import annotations

import math
from itertools import combinations

from minrepro.errors import Unsupported
from minrepro.ops.row import Args, Spelling, op
from minrepro.ops.sample import normal

MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


def _cdist(call: str) -> Spelling:
    def spell(a: Args) -> str:
        mode = f", compute_mode='{MODES[a.compute_mode]}'" if a.given("compute_mode") else ""
        return f"{call}(x1, x2, p=p{mode})"

    return spell


def _flow_cdist(a: Args) -> str:
    return "flow.linalg.vector_norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), ord=p, dim=-1)"


def _flow_pdist(a: Args) -> str:
    if a.self.shape[0] < 2:
        raise Unsupported("OneFlow has no pdist, and its composition asks for two rows or more")
    first, second = zip(*combinations(range(a.self.shape[0]), 2))
    return f"flow.linalg.vector_norm(self[{list(first)}] - self[{list(second)}], ord=p, dim=-1)"


def _columns(a: Args) -> int:
    return a.x1.shape[-1]


def _p_norm(difference: str, p: float, axis: str, keep: str = "") -> str:
    """A p-norm in NumPy, for every p."""
    absolute = f"np.abs({difference})"
    if p == math.inf:
        return f"{absolute}.max({axis}{keep})"
    if p == 0:
        return f"({difference} != 0).sum({axis}{keep}).astype(np.float64)"
    return f"({absolute} ** {p}).sum({axis}{keep}) ** (1 / {p})"


def _pairs(a: Args) -> str:
    """The pairs of rows that `pdist` compares, as two selections of NumPy."""
    upper = f"np.triu_indices({a.self.shape[0]}, 1)"
    return f"self[{upper}[0]] - self[{upper}[1]]"


OPS = (
    op(
        "cdist(x1, x2, p=2.0, compute_mode=None)",
        kind="reduction",
        dims="x1: *b m k, x2: *b n k",
        length=_columns,
        torch=_cdist("torch.cdist"),
        paddle=_cdist("paddle.cdist"),
        oneflow=_flow_cdist,
        numpy=lambda a: _p_norm("(x1[..., :, None, :] - x2[..., None, :, :])", a.p, "-1"),
        samples=[
            dict(x1=normal(3, 4), x2=normal(5, 4, seed=1)),
            dict(x1=normal(2, 3, 4), x2=normal(2, 5, 4, seed=1), p=1.0),
            dict(x1=normal(3, 4), x2=normal(5, 4, seed=1), p=3.0),
            dict(x1=normal(3, 4), x2=normal(5, 4, seed=1), compute_mode=2),
        ],
        why="OneFlow has no cdist; it is the norm of the broadcast difference",
    ),
    op(
        "_cdist_forward(x1, x2, p, compute_mode)",
        kind="reduction",
        dims="x1: *b m k, x2: *b n k",
        length=_columns,
        torch=_cdist("torch.cdist"),
        paddle=_cdist("paddle.cdist"),
        oneflow=_flow_cdist,
        numpy=lambda a: _p_norm("(x1[..., :, None, :] - x2[..., None, :, :])", a.p, "-1"),
        samples=[
            dict(x1=normal(3, 4), x2=normal(5, 4, seed=1), p=2.0, compute_mode=None),
            dict(x1=normal(3, 4), x2=normal(5, 4, seed=1), p=math.inf, compute_mode=None),
        ],
        why="`cdist` of a decomposed graph",
    ),
    op(
        "pdist(self, p=2.0)",
        kind="reduction",
        length=lambda a: a.self.shape[-1],
        torch="F.pdist(self, p=p)",
        paddle="paddle.pdist(self, p=p)",
        oneflow=_flow_pdist,
        numpy=lambda a: _p_norm(f"({_pairs(a)})", a.p, "-1"),
        samples=[dict(self=normal(4, 3)), dict(self=normal(4, 3), p=1.0)],
        why="OneFlow has no pdist; it is the norm of the selected differences",
    ),
    op(
        "_pdist_forward(self, p=2.0)",
        kind="reduction",
        length=lambda a: a.self.shape[-1],
        torch="F.pdist(self, p=p)",
        paddle="paddle.pdist(self, p=p)",
        oneflow=_flow_pdist,
        numpy=lambda a: _p_norm(f"({_pairs(a)})", a.p, "-1"),
        samples=[dict(self=normal(4, 3)), dict(self=normal(4, 3), p=3.0)],
        why="`pdist` of a decomposed graph",
    ),
    op(
        "pairwise_distance(x1, x2, p=2.0, eps=1e-06, keepdim=False)",
        kind="reduction",
        dims="broadcast",
        length=_columns,
        torch="F.pairwise_distance(x1, x2, p=p, eps=eps, keepdim=keepdim)",
        paddle="F.pairwise_distance(x1, x2, p=p, epsilon=eps, keepdim=keepdim)",
        numpy=lambda a: _p_norm("(x1 - x2 + eps)", a.p, "-1", ", keepdims=keepdim"),
        samples=[
            dict(x1=normal(3, 4), x2=normal(3, 4, seed=1)),
            dict(x1=normal(3, 4), x2=normal(3, 4, seed=1), p=1.0, eps=1e-3, keepdim=True),
            dict(x1=normal(3, 4), x2=normal(4, seed=1)),
        ],
    ),
    op(
        "cosine_similarity(x1, x2, dim=1, eps=1e-08)",
        kind="reduction",
        dims="broadcast",
        length=lambda a: a.x1.shape[a.dim],
        torch="F.cosine_similarity(x1, x2, dim=dim, eps=eps)",
        paddle="F.cosine_similarity(x1, x2, axis=dim, eps=eps)",
        numpy=(
            "(x1 * x2).sum(dim) / (np.maximum(np.sqrt((x1 * x1).sum(dim)), eps) * "
            "np.maximum(np.sqrt((x2 * x2).sum(dim)), eps))"
        ),
        samples=[
            dict(x1=normal(3, 4), x2=normal(3, 4, seed=1)),
            dict(x1=normal(2, 3, 4), x2=normal(2, 3, 4, seed=1), dim=-1, eps=1e-6),
        ],
    ),
)
