"""The operator tables: one file per family of the PyTorch documentation, one row per ATen operator.

`TABLE` is every row by name. `find` resolves what a capture saw (``aten.max.dim``) to a row.
"""

from __future__ import annotations

from functools import cache

from minrepro import registry
from minrepro.ops import gradient
from minrepro.ops.row import Op


@cache
def table() -> dict[str, Op]:
    """Every row by ATen name.

    Raises:
        ValueError: if two files give the same operator; the message names both.
    """
    rows: dict[str, Op] = {}
    owner: dict[str, str] = {}
    for module in registry.modules("minrepro.ops"):
        for row in getattr(module, "OPS", ()):
            if row.name in rows:
                raise ValueError(f"operator {row.name!r} is given by {owner[row.name]} and by {module.__name__}")
            rows[row.name], owner[row.name] = row, module.__name__
    return rows


@cache
def families() -> dict[str, str]:
    """The family (name of its file) of every row."""
    return {
        row.name: module.__name__.rpartition(".")[2]
        for module in registry.modules("minrepro.ops")
        for row in getattr(module, "OPS", ())
    }


def find(name: str, overload: str = "") -> Op | None:
    """The row for an ATen name: an exact ``name.overload`` row first, then ``name``; that of a gradient is made."""
    if gradient.is_gradient(name):
        return _gradient(gradient.differentiated(name))
    rows = table()
    return rows.get(f"{name}.{overload}") or rows.get(name)


@cache
def _gradient(name: str) -> Op | None:
    of = find(name)
    return gradient.row(of) if of is not None else None
