"""The gradient of an operator is an operator like any other: it localises, shrinks and emits by the same machinery.

`grad:softmax` takes what `softmax` takes, and beside it the incoming gradient of each result (None for a result that
has none) and the arguments that are differentiated. Its results are the gradients of these, in order. Its row is made
from the row of the operator; the spelling is the operator's own between the lines that a framework wants around it
(`backends/gradient.py`).
"""

from __future__ import annotations

import math

import msgspec

from minrepro.ir.graph import Node, Ref, refs
from minrepro.ir.tensor import TensorSpec
from minrepro.ops.row import REQUIRED, Args, Op

PREFIX = "grad:"
INCOMING, LEAVES = "grad_outputs", "wrt"


def parameters(op: str) -> tuple[str, str]:
    """The parameters of a gradient for the incoming gradients and for what is differentiated by."""
    order = (len(op) - len(innermost(op))) // len(PREFIX)
    mark = "" if order == 1 else f"_{order}"
    return INCOMING + mark, LEAVES + mark


def innermost(op: str) -> str:
    """The operator that is differentiated, however often it is."""
    while is_gradient(op):
        op = differentiated(op)
    return op


def is_gradient(op: str) -> bool:
    """True if an operator is the gradient of another."""
    return op.startswith(PREFIX)


def differentiated(op: str) -> str:
    """The operator whose gradient this is; any other operator is itself."""
    return op.removeprefix(PREFIX)


def gradient(of: Node, incoming: tuple[Ref | None, ...], leaves: tuple[str, ...]) -> Node:
    """The step that differentiates a step.

    Args:
        of: the step.
        incoming: incoming gradient of each of its outputs, None where that is not differentiable.
        leaves: the values to differentiate by.
    """
    op = PREFIX + of.op
    args = {**of.args, **dict(zip(parameters(op), (incoming, tuple(map(Ref, leaves)))))}
    return msgspec.structs.replace(of, op=op, args=args, outputs=tuple(f"d_{name}" for name in leaves))


def forward(node: Node) -> Node:
    """The step that a gradient step differentiates, with names of its own for the results."""
    args = {key: value for key, value in node.args.items() if key not in parameters(node.op)}
    outputs = tuple(f"made:{position}" for position in range(len(incoming(node))))
    return msgspec.structs.replace(node, op=differentiated(node.op), args=args, outputs=outputs)


def orders(node: Node) -> tuple[Node, ...]:
    """The gradient steps in a gradient step, that of the first order first."""
    of = forward(node)
    return (*orders(of), node) if is_gradient(of.op) else (node,)


def incoming(node: Node) -> tuple[Ref | None, ...]:
    """The incoming gradient of each result of the step that a gradient step differentiates."""
    return node.args[parameters(node.op)[0]]


def leaves(node: Node) -> tuple[str, ...]:
    """The values that a gradient step differentiates by, in the order of its outputs."""
    return tuple(ref.name for ref in node.args[parameters(node.op)[1]])


def written(row: Op, node: Node) -> tuple[str, ...]:
    """The values that a step writes to."""
    return tuple(ref.name for key in row.mutates if key in node.args for ref in refs(node.args[key]))


def row(of: Op) -> Op:
    """The row of the gradient of an operator."""
    kind, name = "iterative" if of.kind == "iterative" else "reduction", PREFIX + of.name
    params = {**of.params, **dict.fromkeys(parameters(name), REQUIRED)}
    return Op(name, params, kind, {}, of.dims, lambda a: _terms(of, a), of.reach)


def _terms(of: Op, a: Args) -> int:
    """Terms behind one element of a gradient: those of the operator, or the results that the element goes into."""
    sent, by = (vars(a)[name] for name in parameters(PREFIX + of.name))
    results = max((math.prod(spec.shape) for spec in sent if spec is not None), default=1)
    length = _forward_terms(of, a)
    smallest = min((math.prod(spec.shape) for spec in by), default=1)
    return max(length, min(results, -(-results * length // max(1, smallest))))


def _forward_terms(of: Op, a: Args) -> int:
    if of.kind not in ("reduction", "iterative"):
        return 1
    if of.length is not None:
        return max(1, int(of.length(a)))
    given = [value for value in vars(a).values() if isinstance(value, TensorSpec)]
    return max((spec.shape[-1] for spec in given if spec.shape), default=1)
