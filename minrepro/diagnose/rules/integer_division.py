"""Integer quotients and remainders: rounded towards zero where down is due, or the process dies of a zero divisor."""

from __future__ import annotations

from typing import Iterator

import numpy as np

from minrepro.diagnose.predict import by_case, by_value, cure
from minrepro.diagnose.scene import Scene
from minrepro.ir.case import Case
from minrepro.ir.graph import Node, Ref
from minrepro.ir.reduction import Probe
from minrepro.ir.tensor import Tensor

CAUSE = "integer division and modulo"
SENTENCE = "quotients are rounded the other way, remainders take the other sign, or a zero divisor is not caught"
WEIGHT = 8

DIVISIONS = ("div", "floor_divide", "remainder", "fmod", "div_", "floor_divide_", "remainder_", "fmod_")


def probes(scene: Scene) -> Iterator[Probe]:
    """The other rounding must give the wrong answer; without zero divisors nothing may die."""
    nodes = [node for node in scene.case.graph.nodes if node.op in DIVISIONS]
    if not nodes or scene.actual is not None and scene.actual.dtype.name == "bool":
        return
    if scene.symptom in ("crash", "exception", "hang"):
        yield from _zero(scene, nodes)
        return
    yield from (
        by_case(scene, _others(scene, nodes))
        if len(scene.case.graph.nodes) > 1
        else by_value(scene, _values(scene, nodes))
    )


def _others(scene: Scene, nodes: list[Node]) -> Iterator[tuple[str, Case]]:
    for node in nodes:
        for op in ("remainder", "fmod"):
            if node.op.rstrip("_") in ("remainder", "fmod") and node.op != op:
                yield f"{op} instead of {node.op}", scene.with_node(node, op=op)
        for mode in ("floor", "trunc"):
            if node.op in ("div", "floor_divide") and node.args.get("rounding_mode") != mode:
                yield f"div with rounding_mode={mode!r}", scene.with_node(node, {"rounding_mode": mode}, "div")


def _values(scene: Scene, nodes: list[Node]) -> Iterator[tuple[str, np.ndarray]]:
    """Quotients and remainders of the other kind."""
    node = nodes[0]
    a, b = (scene.tensor(node, name) for name in ("self", "other"))
    x = a.view if a is not None and not a.dtype.inexact else None if a is None else a.values
    y = (b.view if not b.dtype.inexact else b.values) if b is not None else node.args.get("other")
    if x is None or not isinstance(y, (np.ndarray, int, float)):
        return
    with np.errstate(all="ignore"):
        down, rest = np.floor_divide(x, y), np.remainder(x, y)
        up = down + ((rest != 0) & ((np.asarray(x) < 0) != (np.asarray(y) < 0)))
        if "remainder" in node.op or "fmod" in node.op:
            yield "the remainder with the sign of the dividend", x - up * y
            yield "the remainder with the sign of the divisor", rest
        elif node.op == "floor_divide" or node.args.get("rounding_mode"):
            yield "the quotient rounded towards zero", up
            yield "the quotient rounded down", down
            yield "the quotient not rounded", np.true_divide(x, y)
        elif scene.actual is not None:
            yield "the quotient rounded down", down.astype(np.float64)
            yield "the quotient rounded towards zero", up.astype(np.float64)


def _zero(scene: Scene, nodes: list[Node]) -> Iterator[Probe]:
    for node in nodes:
        arg = node.args.get("other")
        divisor = scene.case.feeds.get(arg.name) if isinstance(arg, Ref) else None
        if divisor is not None and not divisor.dtype.inexact and bool(np.any(divisor.view == 0)):
            ones = Tensor(
                np.where(divisor.base == 0, 1, divisor.base).astype(divisor.base.dtype), divisor.dtype, divisor.layout
            )
            yield cure(scene, f"every zero of {arg.name} replaced by one", scene.with_feed(arg.name, ones))
