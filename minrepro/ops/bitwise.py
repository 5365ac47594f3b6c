"""Bits of integers. On booleans these are the logical operators, which is how models use them (``mask & other``)."""

from __future__ import annotations

from minrepro.ops.absent import absent
from minrepro.ops.phrase import is_tensor
from minrepro.ops.promote import promoted
from minrepro.ops.row import Args, Op, Spelling, op
from minrepro.ops.sample import boolean, integers

LOGICAL = "OneFlow 0.9 answers with the logical operator, as booleans, for integers too"
WHOLE = [dict(self=integers(2, 3), other=integers(3, seed=1)), dict(self=integers(2, 3), other=1)]
MASKS = [dict(self=boolean(2, 3), other=boolean(3, seed=1)), dict(self=boolean(4), other=True)]
TYPED = dict(self=integers(2, 3, of="int32"), other=integers(2, 1, seed=1, of="int32"))


def _paddle(text: str) -> Spelling:
    """Paddle wants a tensor on both sides."""

    def spell(a: Args) -> str:
        out = text
        for hole, across in (("self", a.other), ("other", a.self)):
            if not is_tensor(getattr(a, hole)):
                out = out.replace(hole, f"paddle.to_tensor({hole}, dtype='{across.dtype}')")
        return promoted(out)(a)

    return spell


def _bits(name: str, operator: str, samples: list = MASKS) -> Op:
    text = f"self {operator} other"
    return op(
        f"{name}(self, other)", kind="exact", dims="broadcast", samples=samples, why=LOGICAL,
        torch=text, paddle=_paddle(text), numpy=text,
    )


def _shift(name: str, operator: str) -> Op:
    text = f"self {operator} other"
    return op(
        f"{name}(self, other)", kind="exact", dims="broadcast", samples=[*WHOLE, TYPED],
        torch=text, paddle=_paddle(text), oneflow=absent("OneFlow", f"operator {operator}"), numpy=text,
    )


OPS = (
    _bits("bitwise_and", "&", [*MASKS, *WHOLE]),
    _bits("bitwise_or", "|", [*MASKS, *WHOLE]),
    _bits("bitwise_xor", "^", [*MASKS, *WHOLE]),
    _bits("__and__", "&"),
    _bits("__or__", "|"),
    _bits("__xor__", "^"),
    _shift("bitwise_left_shift", "<<"),
    _shift("bitwise_right_shift", ">>"),
    _shift("__lshift__", "<<"),
    _shift("__rshift__", ">>"),
    op(
        "bitwise_not(self)",
        kind="exact",
        torch="~self", paddle="~self", numpy="~self",
        samples=[dict(self=boolean(2, 3)), dict(self=integers(2, 3))],
        why="OneFlow 0.9 refuses integers",
    ),
)
