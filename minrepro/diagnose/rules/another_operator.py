"""The wrong side computes the logical operator where the bitwise one is due, or a neighbour of the same kind."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from minrepro import ops
from minrepro.diagnose.predict import by_case
from minrepro.diagnose.scene import Scene
from minrepro.ir.case import Case
from minrepro.ir.dtype import DTYPES
from minrepro.ir.graph import Ref
from minrepro.ir.reduction import Probe
from minrepro.ir.tensor import Tensor

CAUSE = "another operator"
SENTENCE = "another operator of the same kind is computed"
WEIGHT = 8

NEIGHBOURS = {
    **{
        f"{kind}_{name}": (f"{other}_{name}",)
        for name in ("and", "or", "xor", "not")
        for kind, other in (("bitwise", "logical"), ("logical", "bitwise"))
    },
    **{f"__{name}__": (f"logical_{name}",) for name in ("and", "or", "xor")},
    "gt": ("ge",),
    "ge": ("gt",),
    "lt": ("le",),
    "le": ("lt",),
    "floor": ("trunc", "round"),
    "ceil": ("round",),
    "trunc": ("floor", "round"),
    "sinh": ("sin",),
    "cosh": ("cos",),
    "log2": ("log",),
    "log10": ("log",),
    "log1p": ("log",),
    "expm1": ("exp",),
}


def probes(scene: Scene) -> Iterator[Probe]:
    """A neighbour on the same inputs must give the wrong answer."""
    yield from by_case(scene, _cases(scene))


def _cases(scene: Scene) -> Iterator[tuple[str, Case]]:
    for node in scene.case.graph.nodes:
        for other in NEIGHBOURS.get(node.op, ()):
            row = ops.find(other)
            refs = [arg for arg in node.args.values() if isinstance(arg, Ref)]
            if row is None or len(refs) > len(row.params):
                continue
            args = dict(zip(row.params, node.args.values(), strict=False))
            case = scene.with_node(node, args, op=other, drop=tuple(name for name in node.args if name not in args))
            yield f"{other} instead of {node.op}", case
            number = args.get("other")
            if isinstance(number, int):
                # Some operators take a number where their neighbours want a tensor.
                yield f"{other} instead of {node.op}, with {number} as a tensor", _with_tensor(case, node.outputs, number)


def _with_tensor(case: Case, outputs: tuple[str, ...], number: int) -> Case:
    """The case whose step reads its number ``other`` from a feed."""
    nodes = tuple(
        msgspec.structs.replace(node, args={**node.args, "other": Ref("number")}) if node.outputs == outputs else node
        for node in case.graph.nodes
    )
    graph = msgspec.structs.replace(case.graph, nodes=nodes, inputs=(*case.graph.inputs, "number"))
    feeds = {**case.feeds, "number": Tensor(np.asarray(number), DTYPES["int64"])}
    return msgspec.structs.replace(case, graph=graph, feeds=feeds)
