"""The text of a gradient step: mark the leaves, run the step, send the incoming gradient back, read the gradients.

What a framework's people write for each of these stands in its file under ``gradient``.
"""

from __future__ import annotations

from typing import Mapping

from minrepro import ops
from minrepro.backends import Backend
from minrepro.errors import Unsupported
from minrepro.ir.graph import Node
from minrepro.ir.tensor import TensorSpec
from minrepro.ops.gradient import INCOMING, forward, leaves, written
from minrepro.ops.row import Text, render

OWN = "_gradient"
"""Behind a backend's name: the spelling of a row that is differentiated there, where it is another one."""


def text(
    node: Node, backend: Backend, outputs: tuple[str, ...], specs: Mapping[str, TensorSpec], names: Mapping[str, str],
    terse: bool,
) -> Text:
    """Spell a gradient step.

    Args:
        node: the step.
        backend: the framework.
        outputs: variables wanted for the gradients.
        specs: spec of every value that it reads.
        names: value -> variable.
        terse: leave arguments away that equal their defaults.

    Raises:
        Unsupported: if the framework has no gradients, or the step no spelling.
    """
    style, of = backend.gradient, forward(node)
    row = ops.find(of.op)
    incoming = node.args[INCOMING]
    if not style or row is None or row.arrays or not any(incoming):
        raise Unsupported(f"there is no gradient of {of.op!r} on {backend.title}")
    taken = {*names.values(), *outputs}
    lines = [style["leaf"].format(x=names[name]) for name in leaves(node)]
    inner = dict(names)
    for name in _overwritten(node):
        # No framework lets a step write to a leaf.
        inner[name] = _fresh("h", taken)
        lines.append(f"{inner[name]} = {style['copy'].format(x=names[name])}")
    spelling, rename = backend.spelling(row)
    spelling = row.spellings.get(f"{backend.name}{OWN}", spelling)
    made = render(
        row, backend.name, spelling, of.args, tuple(_fresh("y", taken) for _ in incoming),
        specs=specs, names=inner, dtypes=backend.dtypes, rename=rename, terse=terse,
    )
    untracked = style.get("untracked", "")
    if untracked and of.op != untracked and any(f".{untracked}(" in line for line in made.lines):
        raise Unsupported(f"{backend.title} does not differentiate {untracked}, which stands for {of.op!r} there")
    read = next((name for name in leaves(node) if any(f"{names[name]}.item()" in line for line in made.lines)), None)
    if read is not None:
        raise Unsupported(f"{of.op!r} takes a number there on {backend.title}, which has no gradient")
    pairs = [(variable, names[ref.name]) for variable, ref in zip(made.variables, incoming) if ref is not None]
    lines += [*(_out_of_place(line, style) for line in made.lines), _backward(style, pairs)]
    lines += [f"{output} = {style['read'].format(x=names[name])}" for output, name in zip(outputs, leaves(node))]
    return Text(tuple(lines), outputs)


def middle(node: Node, lines: tuple[str, ...]) -> tuple[str, ...]:
    """The lines of a gradient step that are those of the step itself."""
    before, after = len(leaves(node)) + len(_overwritten(node)), len(node.outputs) + 1
    return lines[before:-after]


def _out_of_place(line: str, style: Mapping[str, str]) -> str:
    """What stands for an in-place form without its write: that destroys what the gradient needs, as it must."""
    before, _, after = style.get("stand_in", "").partition("{value}")
    middle_, _, end = after.partition("{x}")
    if not before or not line.startswith(before) or middle_ not in line or not line.endswith(end):
        return line
    value, _, target = line[len(before):len(line) - len(end)].rpartition(middle_)
    return f"{target} = {value}"


def _overwritten(node: Node) -> tuple[str, ...]:
    """The leaves that the step writes to."""
    of = forward(node)
    row = ops.find(of.op)
    return tuple(name for name in written(row, of) if name in leaves(node)) if row is not None else ()


def _backward(style: Mapping[str, str], pairs: list[tuple[str, str]]) -> str:
    if len(pairs) == 1:
        return style["backward"].format(y=pairs[0][0], dy=pairs[0][1])
    results, incoming = (", ".join(names) for names in zip(*pairs))
    return style["backward_all"].format(y=results, dy=incoming)


def _fresh(stem: str, taken: set[str]) -> str:
    name, count = stem, 2
    while name in taken:
        name, count = f"{stem}{count}", count + 1
    taken.add(name)
    return name
