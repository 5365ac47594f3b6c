"""A few steps of a trace as the body of a function, in the user's own spelling.

Steps that are used once stand where they are used, as long as the line stays readable. Plain values are literals; those
that were computed from sizes and settings follow when sizes shrink.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from typing import Any, Callable, Mapping

import msgspec

from minrepro.align.glue.trace import HOLE, Node, Trace, read

LONGEST = 100
"""Columns of a line before a step gets a variable of its own."""
NOTHING = re.compile(r",?\s*\bdevice=\u00ab(\d+)\u00bb")
"""An argument that says where a tensor lives: scripts run on the default device."""
BESIDE = ("output", "inputs", "np", "sys", "expected", "actual", "error", "reference", "port", "same")
"""Names that the script uses for itself."""


class Unspelled(Exception):
    """A step has no text; `number` says which."""

    def __init__(self, number: int):
        super().__init__(f"step {number} has no text")
        self.number = number


class Function(msgspec.Struct, frozen=True):
    """A body.

    Attributes:
        lines: statements, the last one returns.
        imports: lines that it needs.
        used: names of the inputs that it reads.
        steps: number of operations in it.
    """

    lines: tuple[str, ...]
    imports: tuple[str, ...]
    used: tuple[str, ...]
    steps: int


def spell(trace: Trace, root: int, inputs: Mapping[int, str], scale: Callable[[Any], Any] = lambda value: value) -> Function:
    """Spell what computes a root.

    Args:
        trace: the side.
        root: the step whose value is returned.
        inputs: steps that are given -> their names.
        scale: changes a computed plain value.

    Raises:
        Unspelled: for a step without a text that is not given.
    """
    return _Speller(trace, inputs, scale).function(root)


class _Speller:
    def __init__(self, trace: Trace, inputs: Mapping[int, str], scale: Callable[[Any], Any]):
        self.trace, self.inputs, self.scale = trace, inputs, scale
        self.lines: list[str] = []
        self.imports: dict[str, None] = {}
        self.used: dict[str, None] = {}
        self.made: dict[int, str] = {}
        self.taken = {*inputs.values(), *BESIDE, *dir(builtins)}
        self.steps = 0

    def function(self, root: int) -> Function:
        needed = self.trace.cone(root, set(self.inputs), through=root not in self.inputs)
        self.counts: dict[int, int] = {}
        for number in needed:
            self.taken |= set(self.trace.nodes[number].uses)
            if number not in self.inputs:
                for operand in self.trace.nodes[number].operands:
                    operand = self.trace.plainly(operand)
                    self.counts[operand] = self.counts.get(operand, 0) + 1
        self.root = root
        text = self.text(root)
        self.lines.append(tidy(f"return {text}"))
        return Function(tuple(self.lines), tuple(self.imports), tuple(self.used), self.steps)

    def text(self, number: int) -> str:
        """The expression that stands for a step; it may add lines before it."""
        if number in self.inputs:
            self.used[self.inputs[number]] = None
            return self.inputs[number]
        if number in self.made:
            return self.made[number]
        node = self.trace.nodes[number]
        if node.kind == "plain":
            return node.plain if node.literal and node.plain is not None else literal(self.scale(read(node.plain or "None")))
        if node.kind in ("const", "global"):
            self.imports.update(dict.fromkeys(line for line in node.uses.values() if line))
            return node.text
        if node.kind in ("input", "opaque", "entering") or not node.text:
            raise Unspelled(number)
        self.imports.update(dict.fromkeys(line for line in node.uses.values() if line))
        if node.kind == "write":
            return self.write(number, node)
        text = tidy(HOLE.sub(lambda m: self.operand(node.operands[int(m[1])]), self.clean(node)))
        self.steps += node.kind != "display"
        short = len(text) <= LONGEST - 20 or number == self.root
        if node.kind == "display" or self.counts.get(number, 0) < 2 and short:
            return text
        return self.assigned(number, text)

    def clean(self, node: Node) -> str:
        """Its text without arguments that say where a tensor lives."""
        opaque = {i for i, n in enumerate(node.operands) if self.trace.nodes[n].kind == "opaque" and n not in self.trace.values}
        return NOTHING.sub(lambda m: "" if int(m[1]) in opaque else m[0], node.text).replace("(, ", "(")

    def operand(self, number: int) -> str:
        text = self.text(self.trace.plainly(number))
        return text if re.fullmatch(r"[\w.]+|\[.*\]", text) and not text[0].isdigit() else f"({text})"

    def write(self, number: int, node: Node) -> str:
        holes = {m: self.operand(node.operands[m]) for m in range(1, len(node.operands))}
        before = self.text(self.trace.plainly(node.operands[0]))
        name = self.assigned(number, f"{before}.clone()")
        self.lines.append(tidy(name + HOLE.sub(lambda m: holes[int(m[1])], node.text)))
        self.steps += 1
        return name

    def assigned(self, number: int, text: str) -> str:
        node = self.trace.nodes[number]
        name = free(node.name or node.label or "h", self.taken)
        self.made[number] = name
        self.lines.append(tidy(f"{name} = {text}"))
        return name


def free(wish: str, taken: set[str]) -> str:
    """A name near the wish that is not taken; it is taken then."""
    wish = wish if wish.isidentifier() and not keyword.iskeyword(wish) else "x"
    name, count = wish, 2
    while name in taken or keyword.iskeyword(name):
        name, count = f"{wish}{count}", count + 1
    taken.add(name)
    return name


def tidy(text: str) -> str:
    """The same Python without brackets that are not needed."""
    return ast.unparse(ast.parse(text))


def literal(value: Any) -> str:
    """A plain value as an expression."""
    if isinstance(value, (list, tuple)):
        inner = ", ".join(map(literal, value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return f"float('{value}')"
    return repr(value)
