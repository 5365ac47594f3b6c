"""Attention.

torch wants (batch, heads, length, size) and Paddle (batch, length, heads, size), so a ported model swaps the two
middle axes before and after. OneFlow 0.9 has no such function; it is composed as its formula.
"""

from __future__ import annotations

import math
from typing import Callable

from minrepro.errors import Unsupported
from minrepro.ops.row import Args, op
from minrepro.ops.sample import normal, values


def _terms(a: Args) -> int:
    """A score adds up the head size, an output element the keys."""
    return max(a.query.shape[-1], a.key.shape[-2])


def _paddle(a: Args) -> str:
    rank = len(a.query.shape)
    if rank not in (3, 4):
        raise Unsupported(f"Paddle's attention takes 3 or 4 axes, the query has {rank}")
    order = [0, 2, 1, 3] if rank == 4 else [1, 0, 2]
    query, key, value = (f"{name}.transpose({order})" for name in ("query", "key", "value"))
    mask = "attn_mask=attn_mask"
    if rank == 3 and a.given("attn_mask") and len(a.attn_mask.shape) == 3:
        mask = "attn_mask=attn_mask.unsqueeze(0)"
    options = f"{mask}, dropout_p=dropout_p, is_causal=is_causal, scale=scale"
    return f"F.scaled_dot_product_attention({query}, {key}, {value}, {options}).transpose({order})"


def _formula(title: str, swap: str, masked: str, corner: str, softmax: Callable[[str], str]) -> Callable[[Args], str]:
    """``softmax(scale * query @ key' + mask) @ value`` in statements.

    Args:
        title: the framework, for messages.
        swap: text of a transposed key.
        masked: template that puts minus infinity where ``{hide}`` is true.
        corner: template of the positions right of the diagonal, of `{rows}` and `{columns}`.
        softmax: the text that turns ``out`` into weights.
    """

    def spell(a: Args) -> str:
        if a.dropout_p or a.enable_gqa:
            raise Unsupported(f"{title} has no attention with dropout or shared keys; compare on another backend")
        scale = "scale" if a.given("scale") else repr(1 / math.sqrt(a.query.shape[-1]))
        lines = [f"out = query @ {swap} * {scale}"]
        if a.given("attn_mask"):
            hide = masked.format(hide="attn_mask == False")
            lines.append(f"out = {hide}" if a.attn_mask.dtype == "bool" else "out = out + attn_mask")
        if a.is_causal:
            lines.append("out = " + masked.format(hide=corner.format(rows=a.query.shape[-2], columns=a.key.shape[-2])))
        return "\n".join([*lines, f"out = {softmax('out')} @ value"])

    return spell


def _numpy_softmax(x: str) -> str:
    shifted = f"np.exp({x} - {x}.max(-1, keepdims=True))"
    return f"{shifted} / {shifted}.sum(-1, keepdims=True)"


QUERY = dict(query=normal(2, 2, 3, 4), key=normal(2, 2, 5, 4, seed=1), value=normal(2, 2, 5, 6, seed=2))
SQUARE = dict(query=normal(2, 2, 4, 3), key=normal(2, 2, 4, 3, seed=1), value=normal(2, 2, 4, 3, seed=2))
VISIBLE = values([[1, 1, 0, 0, 1], [0, 1, 1, 0, 0], [1, 0, 0, 1, 1]], of="bool")

OPS = (
    op(
        "scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, "
        "enable_gqa=False)",
        kind="reduction",
        dims="query: *b l e, key: *b s e, value: *b s v",
        length=_terms,
        torch=(
            "F.scaled_dot_product_attention(query, key, value, attn_mask=attn_mask, dropout_p=dropout_p, "
            "is_causal=is_causal, scale=scale, enable_gqa=enable_gqa)"
        ),
        paddle=_paddle,
        oneflow=_formula(
            "OneFlow", "key.transpose(-2, -1)", "out.masked_fill({hide}, float('-inf'))",
            "flow.triu(flow.ones({rows}, {columns}), 1) > 0", lambda x: f"flow.softmax({x}, dim=-1)",
        ),
        numpy=_formula(
            "NumPy", "key.swapaxes(-1, -2)", "np.where({hide}, -np.inf, out)",
            "np.triu(np.ones(({rows}, {columns})), 1) > 0", _numpy_softmax,
        ),
        samples=[
            dict(**QUERY),
            dict(**QUERY, attn_mask=normal(3, 5, seed=3), scale=0.5),
            dict(**QUERY, attn_mask=VISIBLE),
            dict(**SQUARE, is_causal=True),
            dict(query=normal(2, 3, 4), key=normal(2, 5, 4, seed=1), value=normal(2, 5, 4, seed=2)),
            dict(query=normal(2, 4, 3, 5), key=normal(2, 2, 3, 5), value=normal(2, 2, 3, 5), enable_gqa=True),
        ],
        why="Paddle takes the length before the heads",
    ),
)
