"""Inputs whose first axes differ: often a mistake of whoever made them, and never said by what it leads to."""

from __future__ import annotations

from typing import Any, Iterator, Mapping

from minrepro.ir.tensor import Tensor


def uneven(tree: Mapping[str, Any], values: Mapping[str, Tensor]) -> str:
    """A sentence about inputs of different batch sizes, or ``""``.

    Args:
        tree: the arguments as data, with the names of their tensors.
        values: name -> tensor.
    """
    args, kwargs = tree["list"]
    named = [(f"argument {number}", item) for number, item in enumerate(args["list"])] + list(kwargs["dict"])
    sizes = {label: values[name].shape[0] for top, item in named for label, name in _leaves(top, item) if values[name].shape}
    if len(set(sizes.values())) < 2:
        return ""
    told = ", ".join(f"{label} has {size}" for label, size in sizes.items())
    return f"The inputs' first axes differ: {told}. If these are batches, give the same number of rows for each."


def _leaves(label: str, data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    (kind, held), = data.items()
    if kind == "leaf":
        yield label, held
    elif kind in ("list", "tuple"):
        for number, item in enumerate(held):
            yield from _leaves(f"{label}[{number}]", item)
    elif kind == "dict":
        for key, item in held:
            yield from _leaves(f"{label}[{key!r}]", item)
