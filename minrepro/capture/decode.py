"""From the worker's JSON to the IR: arguments, nodes, specs with their layout."""

from __future__ import annotations

import os
from typing import Any, Iterable, Mapping

import numpy as np

from minrepro import ops
from minrepro.ir.dtype import dtype
from minrepro.ir.graph import Arg, Graph, Node, Ref
from minrepro.ir.tensor import CONTIGUOUS, Layout, TensorSpec, from_strided


def argument(value: Any) -> Arg:
    """One argument; see `inside/encode.py` for the form."""
    if isinstance(value, list):
        return tuple(argument(item) for item in value)
    if not isinstance(value, dict):
        return value
    if "ref" in value:
        return Ref(value["ref"])
    if "dtype" in value:
        return dtype(value["dtype"])
    if "float" in value:
        return float(value["float"])
    real, imaginary = value["complex"]
    return complex(float(real), float(imaginary))


def node(raw: Mapping[str, Any]) -> Node:
    """One node under the name of its row; arguments that say nothing new are left away.

    An argument with ATen's own default goes unless the row has a parameter for it, so that an argument that remains
    and that the row does not know is one that matters.
    """
    row = ops.find(raw["op"], raw["overload"])
    known = row.params if row is not None else {}
    args = {
        key: argument(value) for key, value in raw["args"].items() if key in known or key not in raw["defaults"]
    }
    name = row.name if row is not None else raw["op"]
    return Node(name, args, tuple(raw["outputs"]), raw["path"], shorten(raw["source"]))


def graph(reply: Mapping[str, Any]) -> Graph:
    """The captured program."""
    return Graph(
        tuple(entry["name"] for entry in reply["inputs"]),
        tuple(node(raw) for raw in reply["nodes"]),
        tuple(reply["outputs"]),
    )


def specs(reply: Mapping[str, Any]) -> dict[str, TensorSpec]:
    """Spec of every tensor in the program, fed or computed, with the layout that it had in the call."""
    found = {entry["name"]: spec(entry) for entry in reply["inputs"]}
    for raw in reply["nodes"]:
        found.update({name: spec(of) for name, of in zip(raw["outputs"], raw["specs"]) if of is not None})
    return found


def spec(entry: Mapping[str, Any]) -> TensorSpec:
    """Shape, dtype and layout from {"shape", "dtype", "strides"}."""
    return TensorSpec(tuple(entry["shape"]), entry["dtype"], layout_of(entry["shape"], entry["strides"]))


def layout_of(shape: Iterable[int], strides: Iterable[int]) -> Layout:
    """The layout that a tensor with these strides (in elements) arrives with when it is fetched.

    The values do not matter, so this looks at one byte that pretends to be the whole memory.
    """
    shape, strides = tuple(shape), tuple(strides)
    if 0 in shape or _dense(shape, strides):
        return CONTIGUOUS
    span = 1 + sum((n - 1) * s for n, s in zip(shape, strides))
    return from_strided(np.broadcast_to(np.False_, (span,)), dtype("bool"), shape, strides, 0).layout


def _dense(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    step = 1
    for extent, stride in zip(reversed(shape), reversed(strides)):
        if extent > 1 and stride != step:
            return False
        step *= extent
    return True


def shorten(source: str) -> str:
    """``file:line`` without what only this machine knows: relative to here, to the package, or to site-packages."""
    file, colon, line = source.rpartition(":")
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    if "site-packages/" in file:
        file = file.rpartition("site-packages/")[2]
    else:
        for root in (os.getcwd(), package):
            if file.startswith(root + os.sep):
                file = os.path.relpath(file, root)
                break
    return f"{file}{colon}{line}"
