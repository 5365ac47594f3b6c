"""Which sizes move together.

A position is an axis of a fed tensor or an integer argument that equals one. An operator's dim rule ("input: *b i,
weight: o i") puts positions into classes; without a rule, positions of equal size are taken for one class first, and
then every axis for itself. A wrong guess costs no query of the candidate: the reference refuses the variant.
"""

from __future__ import annotations

import math
from typing import Any, Iterator, Mapping

import msgspec

from minrepro import ops
from minrepro.ir.case import Case
from minrepro.ir.graph import Node, Ref


class Class(msgspec.Struct, frozen=True):
    """Positions that share a size.

    Attributes:
        name: for the report.
        size: their present size.
        axes: (feed, axis) pairs.
        attrs: (node index, parameter, position in a tuple argument or -1) triples.
        low: smallest size worth trying.
    """

    name: str
    size: int
    axes: tuple[tuple[str, int], ...]
    attrs: tuple[tuple[int, str, int], ...] = ()
    low: int = 1


def couplings(case: Case) -> list[tuple[Class, ...]]:
    """Ways to group the positions of a case, best guess first."""
    found = []
    if len(case.graph.nodes) == 1:
        node = case.graph.nodes[0]
        row = ops.find(node.op)
        if row is not None and row.dims:
            rule = _by_rule(case, node, row.dims)
            if rule:
                found.append(rule)
    found.append(_by_size(case))
    for other in (_free(case), _by_product(case)):
        if other and other not in found:
            found.append(other)
    return found


def apply(case: Case, sizes: Mapping[Class, int]) -> tuple[dict[str, tuple[int, ...]], tuple[Node, ...]]:
    """New feed shapes and nodes when classes take the given sizes."""
    shapes = {name: list(case.feeds[name].shape) for name in case.graph.inputs}
    nodes = list(case.graph.nodes)
    for group, size in sizes.items():
        for feed, axis in group.axes:
            shapes[feed][axis] = size
        for index, param, position in group.attrs:
            nodes[index] = set_argument(nodes[index], param, position, size)
    return {name: tuple(shape) for name, shape in shapes.items()}, tuple(nodes)


def set_argument(node: Node, param: str, position: int, value: Any) -> Node:
    """A node with one argument (or one element of a tuple argument) replaced."""
    args = dict(node.args)
    if position < 0:
        args[param] = value
    else:
        items = list(args[param])
        items[position] = value
        args[param] = tuple(items)
    return msgspec.structs.replace(node, args=args)


def with_nodes(case: Case, nodes: list[Node]) -> Case:
    """The case with other nodes; feeds that nothing reads any more are dropped."""
    used = {name for node in nodes for name in node.inputs}
    inputs = tuple(name for name in case.graph.inputs if name in used)
    graph = msgspec.structs.replace(case.graph, nodes=tuple(nodes), inputs=inputs)
    return msgspec.structs.replace(case, graph=graph, feeds={name: case.feeds[name] for name in inputs})


def integers(node: Node) -> Iterator[tuple[str, int, int]]:
    """The integer arguments of a node as (parameter, position or -1, value)."""
    for name, value in node.args.items():
        if isinstance(value, int) and not isinstance(value, bool):
            yield name, -1, value
        elif isinstance(value, tuple):
            for position, item in enumerate(value):
                if isinstance(item, int) and not isinstance(item, bool):
                    yield name, position, item


def _free(case: Case) -> tuple[Class, ...]:
    return tuple(
        Class(f"{name}[{axis}]", size, ((name, axis),))
        for name in case.graph.inputs
        for axis, size in enumerate(case.feeds[name].shape)
        if size > 1
    )


def _by_product(case: Case) -> tuple[Class, ...]:
    """Every axis and every number of a shape argument for itself, where their products are equal (a reshape)."""
    classes = list(_free(case))
    for index, node in enumerate(case.graph.nodes):
        sizes = [math.prod(case.feeds[name].shape) for name in node.inputs if name in case.feeds]
        for param, value in node.args.items():
            if not isinstance(value, tuple) or not all(type(item) is int for item in value):
                continue
            total = math.prod(value)
            if total in sizes or (-1 in value and sizes and total and sizes[0] % total == 0):
                classes += [
                    Class(f"{param}[{position}]", size, (), ((index, param, position),))
                    for position, size in enumerate(value)
                    if size > 1
                ]
    return tuple(classes) if any(group.attrs for group in classes) else ()


def _by_size(case: Case) -> tuple[Class, ...]:
    """Every position with the same size is one class."""
    sizes = sorted({size for name in case.graph.inputs for size in case.feeds[name].shape if size > 1}, reverse=True)
    out = []
    for size in sizes:
        axes = tuple(
            (name, axis)
            for name in case.graph.inputs
            for axis, extent in enumerate(case.feeds[name].shape)
            if extent == size
        )
        attrs = tuple(
            (index, param, position)
            for index, node in enumerate(case.graph.nodes)
            for param, position, value in integers(node)
            if value == size and position >= 0
        )
        out.append(Class(f"size {size}", size, axes, attrs))
    return tuple(out)


def _by_rule(case: Case, node: Node, rule: str) -> tuple[Class, ...]:
    """Classes from a dim rule; empty if the rule does not fit the arguments."""
    groups: dict[str, tuple[list[tuple[str, int]], list[tuple[int, str, int]], set[int]]] = {}

    def put(letter: str, axis: tuple[str, int] | None, attr: tuple[int, str, int] | None, size: int) -> None:
        axes, attrs, sizes = groups.setdefault(letter, ([], [], set()))
        if axis is not None:
            axes.append(axis)
        if attr is not None:
            attrs.append(attr)
        sizes.add(size)

    if rule == "broadcast":
        for name in node.inputs:
            shape = case.feeds[name].shape
            for axis, size in enumerate(shape):
                if size > 1:
                    put(f"axis -{len(shape) - axis}", (name, axis), None, size)
    else:
        parts = [part.split(":") for part in rule.split("->")[0].split(",") if ":" in part]
        tokens = {part[0].strip(): part[1].split() for part in parts}
        stars = _star_lengths(case, node, tokens)
        if stars is None:
            return ()
        for param, words in tokens.items():
            letters = _letters(words, stars)
            value = node.args.get(param)
            if isinstance(value, Ref):
                shape = case.feeds[value.name].shape
                letters = _broadcast_letters(words, stars, len(shape)) if len(letters) != len(shape) else letters
                if letters is None:
                    return ()
                for axis, (letter, size) in enumerate(zip(letters, shape)):
                    if size > 1 and letter not in ("1", "_"):
                        put(letter, (value.name, axis), None, size)
            elif isinstance(value, tuple) and len(value) == len(letters):
                for position, (letter, size) in enumerate(zip(letters, value)):
                    if isinstance(size, int):
                        put(letter, None, (0, param, position), size)
            elif isinstance(value, int) and len(letters) == 1:
                put(letters[0], None, (0, param, -1), value)
    if any(len(sizes) > 1 for _, _, sizes in groups.values()):
        return ()
    covered = {axis for axes, _, _ in groups.values() for axis in axes}
    classes = [
        Class(letter, sizes.pop(), tuple(axes), tuple(attrs)) for letter, (axes, attrs, sizes) in groups.items() if axes
    ]
    rest = [c for c in _free(case) if c.axes[0] not in covered]
    return tuple(classes + rest)


def _star_lengths(case: Case, node: Node, tokens: Mapping[str, list[str]]) -> dict[str, int] | None:
    """Ranks of the starred groups: each parameter with one unknown group fixes it."""
    known: dict[str, int] = {}
    for _ in range(3):
        for param, words in tokens.items():
            value = node.args.get(param)
            rank = (
                len(case.feeds[value.name].shape) if isinstance(value, Ref)
                else len(value) if isinstance(value, tuple) else None
            )
            unknown = [w for w in words if "*" in w and w not in known]
            if rank is None or len(unknown) != 1:
                continue
            fixed = sum(known[w] if "*" in w else 1 for w in words if w != unknown[0])
            if rank - fixed < 0:
                return None
            known[unknown[0]] = max(known.get(unknown[0], 0), rank - fixed)
    return known


def _letters(words: list[str], stars: Mapping[str, int]) -> list[str]:
    out: list[str] = []
    for word in words:
        if "*" in word:
            count = stars.get(word, 0)
            out += [f"{word.strip('*')}{count - i}" for i in range(count)]
        else:
            out.append(word)
    return out


def _broadcast_letters(words: list[str], stars: Mapping[str, int], rank: int) -> list[str] | None:
    """Letters of a tensor whose starred group is shorter than elsewhere: leading letters are left out."""
    letters = _letters(words, stars)
    surplus = len(letters) - rank
    starred = next((i for i, word in enumerate(words) if "*" in word), None)
    if surplus <= 0 or starred is None or surplus > stars.get(words[starred], 0):
        return None
    return letters[:starred] + letters[starred + surplus :]

