"""The wrong side computes the logical operator where the bitwise one is due, or a neighbour of the same kind."""

from __future__ import annotations

from collections.abc import Iterator

from minrepro import ops
from minrepro.diagnose.predict import by_case
from minrepro.diagnose.scene import Scene
from minrepro.ir.case import Case
from minrepro.ir.graph import Ref
from minrepro.ir.reduction import Probe

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
            if row is not None and len(refs) <= len(row.params):
                args = dict(zip(row.params, node.args.values(), strict=False))
                case = scene.with_node(node, args, op=other, drop=tuple(name for name in node.args if name not in args))
                yield f"{other} instead of {node.op}", case
