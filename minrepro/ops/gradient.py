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
    args = {**of.args, INCOMING: incoming, LEAVES: tuple(map(Ref, leaves))}
    return msgspec.structs.replace(of, op=PREFIX + of.op, args=args, outputs=tuple(f"d_{name}" for name in leaves))


def forward(node: Node) -> Node:
    """The step that a gradient step differentiates, with names of its own for the results."""
    args = {key: value for key, value in node.args.items() if key not in (INCOMING, LEAVES)}
    outputs = tuple(f"made:{position}" for position in range(len(node.args[INCOMING])))
    return msgspec.structs.replace(node, op=differentiated(node.op), args=args, outputs=outputs)


def leaves(node: Node) -> tuple[str, ...]:
    """The values that a gradient step differentiates by, in the order of its outputs."""
    return tuple(ref.name for ref in node.args[LEAVES])


def written(row: Op, node: Node) -> tuple[str, ...]:
    """The values that a step writes to."""
    return tuple(ref.name for key in row.mutates if key in node.args for ref in refs(node.args[key]))


def row(of: Op) -> Op:
    """The row of the gradient of an operator."""
    kind = "iterative" if of.kind == "iterative" else "reduction"
    params = {**of.params, INCOMING: REQUIRED, LEAVES: REQUIRED}
    return Op(PREFIX + of.name, params, kind, {}, of.dims, lambda a: _terms(of, a), of.reach)


def _terms(of: Op, a: Args) -> int:
    """Terms behind one element of a gradient: those of the operator, or the results that the element goes into."""
    sizes = [math.prod(spec.shape) for spec in a.grad_outputs if spec is not None]
    results = max(sizes, default=1)
    length = _forward_terms(of, a)
    smallest = min((math.prod(spec.shape) for spec in a.wrt), default=1)
    return max(length, min(results, -(-results * length // max(1, smallest))))


def _forward_terms(of: Op, a: Args) -> int:
    if of.kind not in ("reduction", "iterative"):
        return 1
    if of.length is not None:
        return max(1, int(of.length(a)))
    given = [value for value in vars(a).values() if isinstance(value, TensorSpec)]
    return max((spec.shape[-1] for spec in given if spec.shape), default=1)
