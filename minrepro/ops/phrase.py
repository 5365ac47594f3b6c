"""Pieces of spellings that several operator tables share."""

from __future__ import annotations

import math
from typing import Any, NoReturn

from minrepro.errors import Unsupported
from minrepro.ir.tensor import TensorSpec
from minrepro.ops.row import Args

SELF = ("self",)


def written(call: str) -> str:
    """The block of a call that writes to ``self``: the result is the written tensor."""
    return f"{call}\nout = self"


def lacking(reason: str) -> NoReturn:
    """Say that a framework has nothing to spell an operator with.

    Raises:
        Unsupported: always, with the reason.
    """
    raise Unsupported(reason)


def in_layer(hole: str, name: str) -> list[str]:
    """Lines that put a tensor in the place of a parameter of OneFlow's layer ``out``.

    As a `flow.nn.Parameter` it would be a leaf of its own, and gradients would not come back to the tensor.

    Args:
        hole: the tensor.
        name: attribute of the layer.
    """
    return [f"del out.{name}", f"out.{name} = {hole}"]


def is_tensor(arg: Any) -> bool:
    """True if an argument is a tensor and not a constant."""
    return isinstance(arg, TensorSpec)


def subscript(indices: tuple, hole: str = "indices") -> str:
    """What stands between the brackets of ``x[:, i]``.

    Args:
        indices: one entry per leading axis, None for an axis that is taken whole.
        hole: name of the parameter that holds them.
    """
    return ", ".join(":" if index is None else f"{hole}[{at}]" for at, index in enumerate(indices))


def ranged(a: Args) -> str:
    """``:, 1:4:2`` for the parameters dim, start, end and step of a slice, ends left open where they may be."""
    rank, extent = len(a.self.shape), a.self.shape[a.dim]
    start = "" if a.start in (None, 0) else a.start
    end = "" if a.end is None or a.end >= extent else a.end
    step = "" if a.step == 1 else f":{a.step}"
    return ", ".join([":"] * (a.dim % rank) + [f"{start}:{end}{step}"])


def axes(dim: int | tuple[int, ...] | None) -> str:
    """A dim argument as NumPy's ``axis``: an int, a tuple or None; an empty tuple means every axis."""
    if isinstance(dim, tuple):
        return repr(dim) if dim else "None"
    return repr(dim)


def reduced(a: Args) -> int:
    """Number of elements that go into one output element of a reduction over `dim` (all axes if there is none)."""
    shape, dim = a.self.shape, getattr(a, "dim", None)
    if dim is None or dim == () or not shape:
        return math.prod(shape)
    return math.prod(shape[axis] for axis in (dim if isinstance(dim, tuple) else (dim,)))
