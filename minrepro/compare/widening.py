"""A case rewritten for float64: widened, nudged or squared feeds, and several copies side by side in one program."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from minrepro.compare import sensitivity
from minrepro.ir.case import Case
from minrepro.ir.dtype import dtype
from minrepro.ir.graph import Graph, Node, Ref, substitute
from minrepro.ir.tensor import Tensor, TensorSpec


def widened(
    case: Case, noise: np.random.RandomState | None = None, squares: tuple[str | None, ...] | None = None
) -> Case:
    """The case in float64, with nudged inputs if there is noise, with squared ones to get an exact sensitivity."""
    feeds = {name: _widen(case.feeds[name], noise) for name in case.graph.inputs}
    for part, name in enumerate(squares or ()):
        if name is not None:
            feeds[name] = feeds[name].with_base(sensitivity.squared(feeds[name].base, part))
    graph = msgspec.structs.replace(case.graph, nodes=tuple(map(wide_node, case.graph.nodes)))
    return msgspec.structs.replace(case, graph=graph, feeds=feeds)


def _widen(tensor: Tensor, noise: np.random.RandomState | None) -> Tensor:
    if tensor.dtype.kind == "complex":
        wide = tensor.cast(dtype("complex128"))
    elif tensor.dtype.kind == "float":
        wide = tensor.cast(dtype("float64"))
    else:
        return tensor
    if noise is None:
        return wide
    return wide.with_base(wide.base * (1.0 + sensitivity.NUDGE * noise.standard_normal(wide.base.shape)))


def wide_node(node: Node) -> Node:
    """Ask for float64 where a step asks for a narrower floating type."""

    def widen(arg: Any) -> Any:
        if isinstance(arg, type(dtype("float32"))) and arg.kind == "float":
            return dtype("float64")
        return tuple(map(widen, arg)) if isinstance(arg, tuple) else arg

    return msgspec.structs.replace(node, args={name: widen(arg) for name, arg in node.args.items()})


def wide_spec(spec: TensorSpec) -> TensorSpec:
    """The spec that a tensor has in float64."""
    wide = {"float": "float64", "complex": "complex128"}.get(dtype(spec.dtype).kind, spec.dtype)
    return msgspec.structs.replace(spec, dtype=wide)


def product(case: Case) -> tuple[str | None, ...] | None:
    """The feeds that are factors and addend of a single bilinear step; None if it is anything else."""
    if len(case.graph.nodes) != 1:
        return None
    node = case.graph.nodes[0]
    parts = sensitivity.product(node.op, node.args)
    if parts is None:
        return None
    given = [node.args.get(part) for part in parts]
    names = tuple(arg.name if isinstance(arg, Ref) else None for arg in given)
    feeds = [case.feeds[name] for name in names if name is not None]
    plain = all(tensor.dtype.kind == "float" for tensor in feeds) and None not in names[:2]
    return names if plain and len({*names[:2]}) == 2 else None


def side_by_side(cases: list[Case]) -> Case:
    """One program that runs copies of a program on feeds of their own: one evaluation instead of many."""
    inputs, nodes, outputs, feeds = [], [], [], {}
    for number, case in enumerate(cases):
        made = {name for node in case.graph.nodes for name in node.outputs}
        own = {name: numbered(name, number) for name in (*case.graph.inputs, *made)}
        inputs += [own[name] for name in case.graph.inputs]
        outputs += [own[name] for name in case.graph.outputs]
        feeds.update({own[name]: case.feeds[name] for name in case.graph.inputs})
        for node in case.graph.nodes:
            args = {key: substitute(arg, own) for key, arg in node.args.items()}
            nodes.append(msgspec.structs.replace(node, args=args, outputs=tuple(own[name] for name in node.outputs)))
    graph = Graph(tuple(inputs), tuple(nodes), tuple(outputs))
    return msgspec.structs.replace(cases[0], graph=graph, feeds=feeds)


def numbered(name: str, number: int) -> str:
    """Name of a value in one of several copies of a program."""
    return f"{name}_copy_{number}"
