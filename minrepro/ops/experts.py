"""Products of tokens that are sorted by expert, for mixtures of experts. Only torch has them as one operator."""

from __future__ import annotations

from typing import Callable

from minrepro.errors import Unsupported
from minrepro.ops.row import Args, op
from minrepro.ops.sample import normal, transposed, values


def _by_group(joined: str) -> Callable[[Args], str]:
    """One product for each group of rows that ``offs`` ends; `joined` is the call that puts a list together again."""

    def spell(a: Args) -> str:
        if not a.given("offs") or a.given("bias") or len(a.self.shape) != 2 or len(a.mat2.shape) != 3:
            raise Unsupported("grouped products are composed for rows in groups, one matrix each, without a bias")
        parts = "self[ends[at]:ends[at + 1]] @ mat2[at]"
        return f"ends = [0, *offs.tolist()]\nout = {joined}([{parts} for at in range({a.mat2.shape[0]})])"

    return spell


ROWS = dict(self=normal(6, 8), offs=values([2, 6, 6], of="int32"))

OPS = (
    op(
        "_grouped_mm(self, mat2, offs=None, bias=None, out_dtype=None)",
        kind="reduction",
        length=lambda a: a.self.shape[-1],
        torch="torch._grouped_mm(self, mat2, offs=offs, bias=bias, out_dtype=out_dtype)",
        paddle=_by_group("paddle.concat"),
        oneflow=_by_group("flow.cat"),
        numpy=_by_group("np.concatenate"),
        samples=[
            dict(**ROWS, mat2=normal(3, 8, 4, seed=1)),
            dict(**ROWS, mat2=transposed(normal(3, 4, 8, seed=1), 0, 2, 1)),
        ],
    ),
)
