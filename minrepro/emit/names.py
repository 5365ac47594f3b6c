"""Short names that a maintainer expects: ``x``, ``w``, ``b`` and ``src`` go in, ``y`` comes out.

The names depend on the program alone, so that the same bug ends in the same text and duplicates are visible.
"""

from __future__ import annotations

import keyword

import msgspec

from minrepro import ops
from minrepro.backends import Backend
from minrepro.ir.case import Case
from minrepro.ir.graph import Graph, Node, refs, substitute
from minrepro.ops.gradient import is_gradient, leaves

SHORT = {
    "self": "x", "input": "x", "other": "z", "weight": "w", "bias": "b", "src": "src", "source": "src", "mat1": "a",
    "mat2": "b", "query": "q", "key": "k", "value": "v", "tensors": "x", "indices": "index", "condition": "mask",
    "grad_outputs": "dy", "grad_outputs_2": "v",
}
"""ATen parameter -> name of the value that is passed for it; a parameter that is not here names its value itself."""
TAKEN = (
    "actual", "ended", "error", "expected", "inf", "layer", "nan", "np", "os", "pid", "s", "signal", "status", "sys"
)
"""Names that templates, spellings and literals use."""


def canonical(case: Case, backend: Backend) -> tuple[Case, dict[str, str]]:
    """The case with short value names, and old name -> new name."""
    graph = case.graph
    taken = {*TAKEN, *backend.imports}
    names: dict[str, str] = {}

    def choose(value: str, wish: str) -> None:
        if value in names:
            return
        wish = wish if wish.isidentifier() and not keyword.iskeyword(wish) and wish not in backend.imports else "x"
        name, count = wish, 2
        while name in taken:
            name, count = f"{wish}{count}", count + 1
        taken.add(name)
        names[value] = name

    for node in graph.nodes:
        written = _written(node)
        for parameter, arg in node.args.items():
            for ref in refs(arg):
                if ref.name in graph.inputs:
                    choose(ref.name, "y" if ref.name in written and len(node.inputs) > 1 else _short(parameter))
    for name in graph.inputs:
        choose(name, "x")
    for node in graph.nodes:
        if is_gradient(node.op):
            for name, leaf in zip(node.outputs, leaves(node)):
                choose(name, f"d{names[leaf]}")
        for name in node.outputs:
            choose(name, "y" if name in graph.outputs else "h")
    nodes = tuple(
        Node(
            node.op, {key: substitute(arg, names) for key, arg in node.args.items()},
            tuple(names[name] for name in node.outputs), node.path, node.source,
        )
        for node in graph.nodes
    )
    renamed = Graph(
        tuple(names[name] for name in graph.inputs), nodes, tuple(names[name] for name in graph.outputs)
    )
    feeds = {names[name]: case.feeds[name] for name in graph.inputs}
    return msgspec.structs.replace(case, graph=renamed, feeds=feeds), names


def _short(parameter: str) -> str:
    return SHORT.get(parameter, parameter)


def _written(node: Node) -> set[str]:
    row = ops.find(node.op)
    return {ref.name for key in (row.mutates if row else ()) if key in node.args for ref in refs(node.args[key])}
