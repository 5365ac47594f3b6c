"""A program without some of its steps, where whoever read the result of one reads what it was made from instead.

Cutting a step out with its value pinned breaks the flow between its neighbours; a fault that follows the flow (a lazy
value, a fused chain) is lost by that and kept by this. Sizes may not fit any more: then the reference refuses.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

import msgspec

from minrepro.ir.graph import Graph, substitute


def bypass(graph: Graph, keep: Container[str], through: Mapping[str, int] = {}) -> Graph:
    """Keep some steps, by name.

    A step that is left out hands on the one of its inputs that a kept step made last: beside a residual that is the
    longer way. If there is none, nothing flows through it, and its own results become inputs of the program.

    Args:
        graph: the program.
        keep: names of the steps that stay.
        through: step -> which of the inputs that kept steps made it hands on, counted from the last made (0).
    """
    handed: dict[str, str] = {}
    made: dict[str, int] = {}
    nodes = []
    for node in graph.nodes:
        node = msgspec.structs.replace(node, args={key: substitute(arg, handed) for key, arg in node.args.items()})
        flows = sorted((name for name in node.inputs if name in made), key=lambda name: -made[name])
        if node.name in keep:
            nodes.append(node)
            made.update(dict.fromkeys(node.outputs, len(nodes)))
        elif flows:
            handed.update(dict.fromkeys(node.outputs, flows[through.get(node.name, 0) % len(flows)]))
    read = dict.fromkeys(name for node in nodes for name in node.inputs)
    wanted = {handed.get(name, name) for name in graph.outputs}
    last = tuple(
        name for node in nodes for name in node.outputs if name not in read or name in wanted and name in graph.outputs
    )
    return Graph(tuple(name for name in read if name not in made), tuple(nodes), last)
