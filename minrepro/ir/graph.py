"""The computation: a topological list of nodes over named values, with ATen operator names.

A `Node` keeps each argument under ATen's parameter name. An argument is a constant, a `Ref` to a value, or a tuple
of these, so `cat([a, b], 1)` and `index(x, [None, i])` need no special form.
"""

from __future__ import annotations

from typing import Any, Iterator, Mapping

import msgspec

from minrepro.ir.dtype import DType


class Ref(msgspec.Struct, frozen=True):
    """A use of a named value."""

    name: str

    def __str__(self) -> str:
        return f"%{self.name}"


Arg = Any
"""None, bool, int, float, complex, str, DType, Ref, or a tuple of these."""


class Node(msgspec.Struct, frozen=True):
    """One step.

    Attributes:
        op: ATen name, with the overload only where `ops` has a row of its own for it (``max.dim``).
        args: parameter name -> argument.
        outputs: the names of the values it defines, in order; usually one.
        path: module path in the user's model, ``""`` for the root.
        source: ``file:line`` in the user's code, or ``""``.
    """

    op: str
    args: Mapping[str, Arg]
    outputs: tuple[str, ...]
    path: str = ""
    source: str = ""

    @property
    def name(self) -> str:
        """The name of the node is that of its first output."""
        return self.outputs[0]

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the values it reads, in order of first use."""
        return tuple(dict.fromkeys(ref.name for ref in refs(tuple(self.args.values()))))

    def __str__(self) -> str:
        args = ", ".join(f"{key}={show(value)}" for key, value in self.args.items())
        return f"{', '.join('%' + o for o in self.outputs)} = {self.op}({args})"


def refs(arg: Arg) -> Iterator[Ref]:
    """Yield the `Ref`s in an argument, left to right."""
    if isinstance(arg, Ref):
        yield arg
    elif isinstance(arg, tuple):
        for item in arg:
            yield from refs(item)


def substitute(arg: Arg, names: Mapping[str, str]) -> Arg:
    """Rename the `Ref`s of an argument; names that are not in the table stay."""
    if isinstance(arg, Ref):
        return Ref(names.get(arg.name, arg.name))
    if isinstance(arg, tuple):
        return tuple(substitute(item, names) for item in arg)
    return arg


def show(arg: Arg) -> str:
    """One argument as short text, for messages."""
    if isinstance(arg, tuple):
        return f"[{', '.join(show(item) for item in arg)}]"
    return str(arg) if isinstance(arg, (Ref, DType)) else repr(arg)


class Graph(msgspec.Struct, frozen=True):
    """A program.

    Attributes:
        inputs: names of the values that are fed (model inputs, parameters, buffers, pinned cut values).
        nodes: in topological order.
        outputs: names of the values that are compared.
    """

    inputs: tuple[str, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]

    def lint(self) -> str | None:
        """Answer what is malformed as a sentence, or None."""
        known = set(self.inputs)
        if len(known) != len(self.inputs):
            return "two graph inputs share a name"
        for node in self.nodes:
            if not node.outputs:
                return f"a step of {node.op} defines no value"
            for name in node.inputs:
                if name not in known:
                    return f"node {node.name!r} reads {name!r}, which no earlier node or input defines"
            for name in node.outputs:
                if name in known:
                    return f"the value {name!r} is defined twice"
                known.add(name)
        missing = [name for name in self.outputs if name not in known]
        return f"the output {missing[0]!r} is not defined" if missing else None

    def consumers(self) -> dict[str, int]:
        """How many nodes (and graph outputs) read each value."""
        count = dict.fromkeys(self.inputs, 0)
        for node in self.nodes:
            count.update(dict.fromkeys(node.outputs, 0))
            for name in node.inputs:
                count[name] += 1
        for name in self.outputs:
            count[name] += 1
        return count

    def needed(self) -> Graph:
        """The program without the steps that no output needs."""
        wanted, kept = set(self.outputs), []
        for node in reversed(self.nodes):
            if wanted.intersection(node.outputs):
                kept.append(node)
                wanted.update(node.inputs)
        return Graph(self.inputs, tuple(reversed(kept)), self.outputs)

    def subgraph(self, keep: tuple[Node, ...], outputs: tuple[str, ...] | None = None) -> Graph:
        """The program of some nodes alone: whatever they read from outside becomes an input.

        Args:
            keep: nodes of this graph, in order.
            outputs: values to compare; by default those that leave the subset (or that nothing reads).
        """
        inside = {name for node in keep for name in node.outputs}
        read = dict.fromkeys(name for node in keep for name in node.inputs)
        inputs = tuple(name for name in read if name not in inside)
        if outputs is None:
            kept = {id(node) for node in keep}
            leaving = {name for node in self.nodes if id(node) not in kept for name in node.inputs} | set(self.outputs)
            used = {name for node in keep for name in node.inputs}
            ordered = [name for node in keep for name in node.outputs]
            outputs = tuple(name for name in ordered if name in leaving or name not in used)
        return Graph(inputs, keep, outputs)
