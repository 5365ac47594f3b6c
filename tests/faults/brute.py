"""The smallest case of each planted fault by brute force, as ``minima.json`` beside this file.

``python -m tests.faults.brute [NAME ...]`` computes it again. Nothing of the reducer's search is used: for one, two and
more elements, every way to deal them out to the feeds, every shape with that many items, every argument at its start
value, its default or a small number, every layout that the start had or a simpler one, and a few value patterns are run
on both sides and judged like any variant of the reducer, until one shows the fault.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import sys
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any, Iterator

import msgspec
import numpy as np

from minrepro import ops
from minrepro.backends.program import Program
from minrepro.compare.pair import Pair, Side, open_side
from minrepro.compare.verdict import judge
from minrepro.errors import Unsupported
from minrepro.ir.case import Case
from minrepro.ir.dtype import from_float64
from minrepro.ir.graph import Graph, Node, Ref, refs
from minrepro.ir.outcome import Completed, Crashed, Outcome, TimedOut
from minrepro.ir.tensor import CONTIGUOUS, Expand, Layout, Permute, Slice, Tensor
from minrepro.ops.row import REQUIRED
from minrepro.shrink.oracle import Oracle

from . import FOLDER, Fault, table
from .hunt import Ground, NotFound, find, torch_spec

CACHE = FOLDER / "minima.json"
PROBE = FOLDER / "probe.py"
LIMIT = 24
"""Elements at which the enumeration gives up."""
FEWER_STEPS = 3
"""Elements up to which programs with fewer steps than planted are enumerated, to show that they cannot fail."""
SMALL = 6
"""Elements up to which every rank and every pattern of values is tried; beyond it the start's ranks and a few patterns."""


class Minimum(msgspec.Struct, frozen=True):
    """What brute force found.

    Attributes:
        nodes, elements: the smallest case.
        case: it, in one line.
        tried: variants that ran on both sides before.
        digest: of the fault file, so that a changed fault is noticed.
    """

    nodes: int
    elements: int
    case: str
    tried: int
    digest: str


def minima() -> dict[str, Minimum]:
    """The stored minima of the faults that have not changed since."""
    if not CACHE.exists():
        return {}
    stored = msgspec.json.decode(CACHE.read_bytes(), type=dict[str, Minimum])
    return {name: known for name, known in stored.items() if name in table() and known.digest == table()[name].digest}


class Bench:
    """Runs many small cases: sessions without a fork each, restarted when a case kills one.

    Args:
        oracle: judges; it holds the start case.
        reference: a worker beside the one that holds the captured model.
    """

    def __init__(self, oracle: Oracle, reference: Side):
        self.oracle, self.pair, self.reference = oracle, oracle.pair, reference
        self.tried = 0
        oracle.level = "brute force"
        reference.worker.open()
        self.pair.candidate.worker.open()

    def valid(self, graph: Graph, shapes: list[tuple[tuple[int, ...], ...]], dtypes: list[str]) -> list[int]:
        """Positions of the shapes that the reference takes."""
        text = next((text for sizes in shapes if (text := self._text(graph, sizes, dtypes)) is not None), None)
        if text is None:
            return []
        feeds = {feed.value: feed for feed in text.feeds}
        found = self.reference.worker.call(
            PROBE, "valid", code="\n".join(line for step in text.steps for line in step.lines),
            variables=[feeds[name].variable for name in graph.inputs], dtypes=dtypes,
            arrays=[feeds[name].array for name in graph.inputs],
            shapes=[[list(shape) for shape in candidate] for candidate in shapes],
        )
        if isinstance(found, list):
            return found
        # The process died of one of them: leave the arguments out under which that can happen.
        self.reference.worker.open()
        return []

    def _text(self, graph: Graph, sizes: tuple[tuple[int, ...], ...], dtypes: list[str]) -> Program | None:
        """The program for feeds of given sizes; None where its spelling or the reference refuses them."""
        feeds = {n: Tensor(np.zeros(s), d) for n, s, d in zip(graph.inputs, sizes, dtypes)}
        try:
            return self.pair.spell(msgspec.structs.replace(self.oracle.start, graph=graph, feeds=feeds), self.reference)
        except (Unsupported, IndexError, KeyError, ValueError, TypeError, ZeroDivisionError):
            return None

    def shows(self, case: Case) -> bool:
        """Run a case on both sides and judge it as the reducer does."""
        left = self._step(self.reference, case)
        if not isinstance(left, Completed):
            return False
        right = self._step(self.pair.candidate, case)
        self.tried += 1
        comparison = judge(self.pair.question(case), left, right)
        return self.oracle.weigh(case, comparison, left, right).interest == "interesting"

    def _step(self, side: Side, case: Case) -> Outcome | None:
        try:
            text = self.pair.spell(case, side)
        except Unsupported:
            return None
        free = [*text.variables.values()]
        feeds = {name: case.feeds[name] for name in case.graph.inputs}
        knobs = {"deadline": self.pair.deadline_s, "threads": case.threads, "seed": case.seed}
        outcome = side.worker.step(text, feeds, case.graph.outputs, free, **knobs)
        if isinstance(outcome, (Crashed, TimedOut)):
            side.worker.open()
        return outcome


def smallest(oracle: Oracle, reference: Side) -> Minimum | None:
    """Enumerate until a case shows the fault; None if none does within the limits."""
    bench, start = Bench(oracle, reference), oracle.start
    most = len(start.graph.nodes)
    for count in range(1, most + 1):
        programs = list(_programs(start, oracle.pair, count))
        for elements in range(1, (LIMIT if count == most else FEWER_STEPS) + 1):
            for case in programs:
                for variant in _with_elements(bench, case, elements):
                    if bench.shows(variant):
                        return Minimum(count, elements, variant.summary(), bench.tried, "")
    return None


def _programs(start: Case, pair: Pair, count: int) -> Iterator[Case]:
    """Every choice of so many steps of the start, with and without each optional tensor."""
    for keep in itertools.combinations(start.graph.nodes, count):
        graph = start.graph.subgraph(keep)
        feeds = dict(start.feeds)
        missing = tuple(name for name in graph.inputs if name not in feeds)
        if missing:
            made = pair.run(start, pair.reference, missing)
            if not isinstance(made, Completed):
                continue
            feeds.update(made.values)
        for nodes in itertools.product(*(list(_leaving_out(node)) for node in keep)):
            used = dict.fromkeys(name for node in nodes for name in node.inputs)
            inputs = tuple(name for name in graph.inputs if name in used)
            less = msgspec.structs.replace(graph, nodes=tuple(nodes), inputs=inputs)
            yield msgspec.structs.replace(start, graph=less, feeds={name: feeds[name] for name in inputs})


def _leaving_out(node: Node) -> Iterator[Node]:
    """The node with every subset of its optional tensors, and with every part of a list of tensors."""
    row = ops.find(node.op)
    choices: list[list[tuple[str, Any]]] = []
    for name, value in node.args.items():
        if isinstance(value, Ref) and row.params.get(name, REQUIRED) is None:
            choices.append([(name, None), (name, value)])
        elif isinstance(value, tuple) and value and all(isinstance(item, Ref) for item in value):
            parts = [c for n in range(1, len(value) + 1) for c in itertools.combinations(value, n)]
            choices.append([(name, part) for part in parts])
    for choice in itertools.product(*choices):
        yield msgspec.structs.replace(node, args={**node.args, **dict(choice)})


def _with_elements(bench: Bench, case: Case, elements: int) -> Iterator[Case]:
    """Every variant of a program that has so many elements and that the reference takes."""
    feeds = [case.feeds[name] for name in case.graph.inputs]
    dtypes = [tensor.dtype.name for tensor in feeds]
    start = tuple(len(tensor.shape) for tensor in feeds)
    for ranks in _ranks(start) if elements <= SMALL else (start,):
        shapes = list(_shapes(ranks, elements))
        if not shapes:
            continue
        for graph, picked in _arguments(case.graph, shapes):
            chosen = [shapes[i] for i in picked]
            for position in bench.valid(graph, chosen, dtypes) if chosen else ():
                yield from _filled(case, graph, chosen[position])


def _ranks(start: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Ranks of the feeds: any that are not higher; with three or more feeds, all lower by the same number."""
    if len(start) <= 2:
        yield from itertools.product(*(range(rank, -1, -1) for rank in start))
    else:
        yield from dict.fromkeys(tuple(max(0, r - less) for r in start) for less in range(max(start) + 1))


def _shapes(ranks: tuple[int, ...], elements: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    for parts in _deals(elements, len(ranks)):
        yield from itertools.product(*(_factors(n, rank) for n, rank in zip(parts, ranks)))


def _deals(total: int, count: int) -> Iterator[tuple[int, ...]]:
    """Ways to deal elements out to feeds, at least one each."""
    if count == 1:
        yield (total,)
        return
    for first in range(1, total - count + 2):
        for rest in _deals(total - first, count - 1):
            yield (first, *rest)


@cache
def _factors(n: int, rank: int) -> tuple[tuple[int, ...], ...]:
    """Shapes of a rank with n items."""
    if rank == 0:
        return ((),) if n == 1 else ()
    return tuple((d, *rest) for d in range(1, n + 1) if n % d == 0 for rest in _factors(n // d, rank - 1))


def _arguments(graph: Graph, shapes: list) -> Iterator[tuple[Graph, list[int]]]:
    """The program with other constant arguments, and which of the shapes go with them."""
    slots = []
    for index, node in enumerate(graph.nodes):
        row = ops.find(node.op)
        for name, value in node.args.items():
            if not any(True for _ in refs(value)) and value is not None:
                slots.append((index, name, _values(name, value, row.params.get(name, REQUIRED), len(graph.nodes) == 1)))
    sized = {(i, n) for i, n, _ in slots if n in ("normalized_shape", "shape", "size")}
    plain = [slot for slot in slots if slot[:2] not in sized]
    for choice in itertools.product(*(values for _, _, values in plain)):
        changes = {slot[:2]: value for slot, value in zip(plain, choice)}
        if not sized:
            yield _changed(graph, changes), list(range(len(shapes)))
            continue
        (key,) = sized
        wanted: dict[tuple[int, ...], list[int]] = {}
        for position, candidate in enumerate(shapes):
            for value in _fitting(key[1], candidate[0]):
                wanted.setdefault(value, []).append(position)
        for value, positions in wanted.items():
            yield _changed(graph, {**changes, key: value}), positions


def _fitting(name: str, shape: tuple[int, ...]) -> set[tuple[int, ...]]:
    """Sizes that an argument may have for a feed: its last axes, or any other shape with as many items."""
    if name == "normalized_shape":
        return {shape[-n:] for n in range(1, len(shape) + 1)}
    return {other for rank in (1, 2) for other in _factors(math.prod(shape), rank)}


def _changed(graph: Graph, changes: dict[tuple[int, str], Any]) -> Graph:
    nodes = list(graph.nodes)
    for (index, name), value in changes.items():
        nodes[index] = msgspec.structs.replace(nodes[index], args={**nodes[index].args, name: value})
    return msgspec.structs.replace(graph, nodes=tuple(nodes))


def _values(name: str, value: Any, default: Any, alone: bool) -> list[Any]:
    """What an argument may be: as at the start, its default, or (for a step alone) a small number in its place."""
    out = [value]
    if default is not REQUIRED:
        out.append(default)
    numbers = (0, 1, 2) if not name.startswith("dim") else (0, 1, -1)
    if not alone:
        numbers = ()
    if isinstance(value, int) and not isinstance(value, bool):
        out += [n for n in numbers if n <= abs(value) or name.startswith("dim")]
    elif isinstance(value, tuple) and value and all(isinstance(item, int) for item in value):
        out += [(n,) * len(value) for n in numbers if n <= max(value) or name.startswith("dim")]
    return list({(type(item), item): item for item in out}.values())


# -- values and layouts -----------------------------------------------------------------------------------------------

FLOATS = ("normal", "start", "ones", "negative", "positive", "arange", "around the extreme")
WHOLE = ("last", "zeros", "ones", "start")


def _filled(case: Case, graph: Graph, shapes: tuple[tuple[int, ...], ...]) -> Iterator[Case]:
    """The program at given sizes with every layout and every pattern of values."""
    layouts = [_layouts(case.feeds[name].layout, shape) for name, shape in zip(graph.inputs, shapes)]
    whole = any(not case.feeds[name].dtype.inexact for name in graph.inputs)
    top = max((shape[0] for shape in shapes if shape), default=1)
    for chosen in itertools.product(*layouts):
        floats = FLOATS if sum(map(math.prod, shapes)) <= SMALL and len(graph.nodes) == 1 else FLOATS[:3]
        for pattern, integers in itertools.product(floats, WHOLE if whole else WHOLE[:1]):
            feeds = {}
            for number, (name, (base_shape, layout)) in enumerate(zip(graph.inputs, chosen)):
                tensor = case.feeds[name]
                base = _pattern(tensor, base_shape, pattern if tensor.dtype.inexact else integers, number, top)
                feeds[name] = Tensor(base, tensor.dtype, layout)
            yield msgspec.structs.replace(case, graph=graph, feeds=feeds)


def _pattern(tensor: Tensor, shape: tuple[int, ...], pattern: str, seed: int, top: int) -> np.ndarray:
    """Values of a pattern in a tensor's dtype."""
    size = math.prod(shape)
    random = np.random.RandomState(seed).standard_normal(size)
    if pattern in ("start", "around the extreme"):
        flat = tensor.view.reshape(-1)
        at = 0
        if pattern != "start" and flat.size:
            known = np.abs(tensor.values.reshape(-1))
            at = int(np.argmax(np.where(np.isnan(known), np.inf, known)))
        return np.resize(np.roll(flat, -at), size).reshape(shape)
    made = {
        "normal": random, "negative": -np.abs(random) - 0.1, "positive": np.abs(random) + 0.1, "ones": np.ones(size),
        "zeros": np.zeros(size), "arange": np.arange(size), "last": np.full(size, top - 1),
    }[pattern].reshape(shape)
    if tensor.dtype.kind == "bool":
        return made > 0
    return from_float64(made, tensor.dtype) if tensor.dtype.inexact else made.astype(tensor.dtype.storage)


def _layouts(start: Layout, shape: tuple[int, ...]) -> list[tuple[tuple[int, ...], Layout]]:
    """Base shapes and layouts of a tensor of this shape: contiguous, and the kinds of view that the start had.

    Of those that lie in memory alike (axes of size 1 have no stride) one is enough.
    """
    found = {}
    for base, layout in _views({type(link) for link in start.links}, shape):
        view = layout.apply(np.empty(base, np.int8))
        found.setdefault(tuple(s for n, s in zip(view.shape, view.strides) if n > 1), (base, layout))
    return list(found.values())


def _views(kinds: set[type], shape: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Layout]]:
    yield shape, CONTIGUOUS
    if Permute in kinds:
        for order in itertools.permutations(range(len(shape))):
            yield tuple(shape[order.index(axis)] for axis in range(len(shape))), Layout((Permute(order),))
    if Slice in kinds and shape:
        for axis in sorted({0, len(shape) - 1}):
            extent = 2 * shape[axis] - 1
            yield shape[:axis] + (extent,) + shape[axis + 1 :], Layout((Slice(axis, 0, 2, shape[axis], extent),))
    if Expand in kinds:
        for axis, size in enumerate(shape):
            if size > 1:
                yield shape[:axis] + (1,) + shape[axis + 1 :], Layout((Expand(axis, size),))


def compute(fault: Fault, ground: Ground, folder: Path) -> Minimum | None:
    """The minimum of one fault, from the same start that the reducer gets."""
    found = find(fault, ground, folder / fault.name)
    beside = open_side(torch_spec(), folder)
    try:
        answer = smallest(found.oracle, beside)
    finally:
        beside.worker.stop()
        found.oracle.pair.stop(reference=False)
    return None if answer is None else msgspec.structs.replace(answer, digest=fault.digest)


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.brute", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="faults; by default those without a stored minimum")
    options = parser.parse_args()
    stored = minima()
    chosen = [table()[name] for name in options.names] or [f for f in table().values() if f.name not in stored]
    with tempfile.TemporaryDirectory(prefix="minrepro-brute-") as folder:
        for model, group in itertools.groupby(sorted(chosen, key=lambda f: f.model_path), key=lambda f: f.model_path):
            ground = Ground(model, Path(folder))
            try:
                for fault in group:
                    began = time.monotonic()
                    try:
                        answer = compute(fault, ground, Path(folder))
                    except NotFound as error:
                        print(f"{fault.name:<28} not found: {error}", flush=True)
                        continue
                    print(f"{fault.name:<28} {answer or 'nothing found'} {time.monotonic() - began:.0f} s", flush=True)
                    if answer is not None:
                        stored[fault.name] = answer
                        text = json.dumps({n: msgspec.to_builtins(m) for n, m in sorted(stored.items())}, indent=1)
                        CACHE.write_text(text + "\n")
            finally:
                ground.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
