"""The text of a gradient step: mark the leaves, run the step, send the incoming gradient back, read the gradients.

Of a gradient of a gradient, the first order comes from a call that records a graph of its own.

What a framework's people write for each of these stands in its file under ``gradient``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from minrepro import ops
from minrepro.backends import Backend
from minrepro.errors import Unsupported
from minrepro.ir.graph import Node
from minrepro.ir.tensor import TensorSpec
from minrepro.ops.gradient import forward, incoming, leaves, orders, written
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
    style, chain = backend.gradient, orders(node)
    of = forward(chain[0])
    row = ops.find(of.op)
    if not style or row is None or row.arrays or not all(any(incoming(order)) for order in chain):
        raise Unsupported(f"there is no gradient of {of.op!r} on {backend.title}")
    taken = {*names.values(), *outputs}
    lines = [style["leaf"].format(x=names[name]) for name in _marked(node)]
    inner = dict(names)
    for name in _overwritten(node):
        # No framework lets a step write to a leaf.
        inner[name] = _fresh("h", taken)
        lines.append(f"{inner[name]} = {style['copy'].format(x=names[name])}")
    spelling, rename = backend.spelling(row)
    spelling = row.spellings.get(f"{backend.name}{OWN}", spelling)
    made = render(
        row, backend.name, spelling, of.args, tuple(_fresh("y", taken) for _ in incoming(chain[0])),
        specs=specs, names=inner, dtypes=backend.dtypes, rename=rename, terse=terse,
    )
    untracked = style.get("untracked", "")
    if untracked and of.op != untracked and any(f".{untracked}(" in line for line in made.lines):
        raise Unsupported(f"{backend.title} does not differentiate {untracked}, which stands for {of.op!r} there")
    read = next((name for name in _marked(node) if any(f"{names[name]}.item()" in line for line in made.lines)), None)
    if read is not None:
        raise Unsupported(f"{of.op!r} takes a number there on {backend.title}, which has no gradient")
    lines += [_out_of_place(line, style) for line in made.lines]
    lines += _back(node, made.variables, names, outputs, style, taken)
    return Text(tuple(lines), outputs)


def _back(
    node: Node, results: tuple[str, ...], names: Mapping[str, str], outputs: tuple[str, ...], style: Mapping[str, str],
    taken: set[str],
) -> Iterator[str]:
    """The lines behind those of the step: the lower orders, the way back, and what is read."""
    for order in orders(node)[:-1]:
        found = tuple(_fresh("g", taken) for _ in leaves(order))
        call = style["first"].format(**_sent(order, results, names), x=_listed(names[name] for name in leaves(order)))
        yield f"{', '.join(found)} = {call}" if len(found) > 1 else f"{found[0]} = {call}[0]"
        results = found
    several = sum(ref is not None for ref in incoming(node)) > 1
    yield style["backward_all" if several else "backward"].format(**_sent(node, results, names))
    for output, name in zip(outputs, leaves(node)):
        yield f"{output} = {style['read'].format(x=names[name])}"


def middle(node: Node, lines: tuple[str, ...]) -> tuple[str, ...]:
    """The lines of a gradient step that are those of the step itself."""
    before, after = len(_marked(node)) + len(_overwritten(node)), len(node.outputs) + len(orders(node))
    return lines[before:-after]


def _marked(node: Node) -> tuple[str, ...]:
    """The values that have to be marked as leaves."""
    return tuple(dict.fromkeys(name for order in orders(node) for name in leaves(order)))


def _sent(order: Node, results: tuple[str, ...], names: Mapping[str, str]) -> dict[str, str]:
    """The results that have an incoming gradient, and these."""
    pairs = [(result, names[ref.name]) for result, ref in zip(results, incoming(order)) if ref is not None]
    return {key: _listed(part) for key, part in zip(("y", "dy"), zip(*pairs))}


def _listed(names: Iterable[str]) -> str:
    names = tuple(names)
    return names[0] if len(names) == 1 else f"[{', '.join(names)}]"


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
    of = forward(orders(node)[0])
    row = ops.find(of.op)
    return tuple(name for name in written(row, of) if name in _marked(node)) if row is not None else ()


def _fresh(stem: str, taken: set[str]) -> str:
    name, count = stem, 2
    while name in taken:
        name, count = f"{stem}{count}", count + 1
    taken.add(name)
    return name
