"""The wrong side refuses, or dies of, an input that is legal; a simpler one is taken."""

from __future__ import annotations

from typing import Iterator

import msgspec
import numpy as np

from minrepro import ops
from minrepro.diagnose.scene import Scene
from minrepro.ir.case import Case
from minrepro.ir.dtype import dtype
from minrepro.ir.graph import Ref, show
from minrepro.ir.reduction import Probe
from minrepro.ir.tensor import Tensor
from minrepro.ops.row import REQUIRED

CAUSE = "refused input"
SENTENCE = "a legal argument is refused"
WEIGHT = 4
IMPLIED_BY = (
    "negative axis", "special path of size 0 or 1", "rank", "frozen input", "integer division and modulo", "missing kernel",
)


def probes(scene: Scene) -> Iterator[Probe]:
    """One argument made simpler must be taken."""
    if scene.symptom not in ("exception", "crash", "hang"):
        return
    tried = []
    for what, case in _simpler(scene):
        tried.append(what)
        if scene.cured(case):
            yield Probe(what, "both sides agree", "both sides agree", True)
            return
    if tried:
        yield Probe("; ".join(tried[:6]), "both sides agree", "none does", False)


def _simpler(scene: Scene) -> Iterator[tuple[str, Case]]:
    for node in scene.case.graph.nodes:
        row = ops.find(node.op)
        for name, default in row.params.items() if row is not None else ():
            given = node.args.get(name, default)
            if default is not REQUIRED and given != default:
                yield f"{node.op} without {name}={show(given)}", scene.with_node(node, drop=(name,))
            elif isinstance(given, int) and not isinstance(given, bool) and given < 0:
                rank = max((len(t.shape) for t in scene.feeds.values()), default=0)
                yield (
                    f"{node.op} with {name}={given + rank} instead of {given}",
                    scene.with_node(node, {name: given + rank}),
                )
            elif isinstance(given, tuple) and len(given) > 1 and not any(isinstance(v, Ref) for v in given):
                yield (
                    f"{node.op} with {name}={show(given[:1])} instead of {show(given)}",
                    scene.with_node(node, {name: given[:1]}),
                )
    kinds = {tensor.dtype for tensor in scene.feeds.values() if tensor.dtype.inexact}
    for to in (dtype("float32"), dtype("float64")):
        if kinds and kinds != {to}:
            yield (
                f"the inputs in {to}",
                scene.with_feeds(lambda t, to=to: t.cast(to), lambda t: t.dtype.kind == "float"),
            )
    yield from _retyped(scene)
    yield from _straight(scene)


def _retyped(scene: Scene) -> Iterator[tuple[str, Case]]:
    """What is no floating-point number as one, as the widest integer or as a truth value: all of it, then each input."""
    others = [name for name, tensor in scene.feeds.items() if tensor.dtype.kind != "float"]
    for to in (dtype("float32"), dtype("int64"), dtype("bool")):
        for names in (others, *([name] for name in others if len(others) > 1)):
            if any(scene.case.feeds[name].dtype != to for name in names):
                feeds = {name: scene.case.feeds[name].cast(to) for name in names}
                case = msgspec.structs.replace(scene.case, feeds={**scene.case.feeds, **feeds})
                yield f"{', '.join(names)} in {to}", case


def _straight(scene: Scene) -> Iterator[tuple[str, Case]]:
    """What is loaded into a transposed view as loaded into the whole."""
    for node in scene.case.graph.nodes:
        into, source = scene.tensor(node, "self"), scene.tensor(node, "src")
        if node.op == "load_transposed" and into is not None and source is not None:
            case = scene.with_node(node, op="copy_.numpy")
            whole = Tensor(np.zeros(source.shape, into.dtype.storage), into.dtype)
            yield "the same into what is no view", msgspec.structs.replace(
                case, feeds={**case.feeds, node.args["self"].name: whole}
            )
