"""The total order of cases: what "smaller" means, everywhere and always.

The same bug then tends to end in the same text, which makes duplicates visible. The order is that of the design note
on reduction (section 3): operators, tensors, elements, rank, sizes, dtypes, attributes, layout, values.
"""

from __future__ import annotations

import numpy as np

from minrepro import ops
from minrepro.ir.case import Case
from minrepro.ir.dtype import RANK
from minrepro.ir.graph import Ref, refs
from minrepro.ir.tensor import Tensor
from minrepro.ops.gradient import incoming, is_gradient, orders

Key = tuple


def key(case: Case) -> Key:
    """The sort key of a case; smaller is simpler."""
    gradients = [node for node in case.graph.nodes if is_gradient(node.op)]
    # An incoming gradient looks like the step's result: no size of it can be chosen.
    implied = {ref.name for node in gradients for order in orders(node) for ref in refs(incoming(order))}
    every = [case.feeds[name] for name in case.graph.inputs]
    feeds = [case.feeds[name] for name in case.graph.inputs if name not in implied]
    shapes = sorted((tensor.shape for tensor in feeds), reverse=True)
    return (
        len(case.graph.nodes),
        len(feeds),
        sum(len(node.outputs) for node in gradients),
        sum(tensor.size for tensor in feeds),
        sum(tensor.base.size for tensor in feeds),
        sum(len(shape) for shape in shapes),
        tuple(shapes),
        sum(RANK[tensor.dtype.name] for tensor in feeds),
        sum(_attributes(node) for node in case.graph.nodes),
        sum(len(tensor.layout.links) for tensor in every),
        sum(value_rank(tensor) for tensor in every),
        sum(len(node.op) for node in case.graph.nodes),
        case.threads,
        not case.terse,
    )


def _attributes(node) -> int:
    """Weight of the arguments that differ from their defaults; larger numbers weigh a little more."""
    row = ops.find(node.op)
    total = 0
    for name, value in node.args.items():
        if any(True for _ in refs(value)) or isinstance(value, Ref):
            continue
        default = row.params.get(name) if row is not None else None
        if type(value) is type(default) and value == default:
            continue
        total += 1000 + _size(value)
    return total


def _size(value: object) -> int:
    if isinstance(value, tuple):
        return len(value) + sum(map(_size, value))
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 1
    return min(500, len(repr(value)) + (abs(int(value)) if abs(value) < 100 else 100))


LONGEST = 48
"""No literal is longer (a complex128 with both exponents): an estimate from above for tensors nobody would print."""


def value_rank(tensor: Tensor) -> int:
    """How much there is to read in a tensor's values: patterns first, then the length of the literals.

    Empty and all-zero tensors rank 0, ones 1, one repeated value and ``0, 1, 2, ...`` just above; anything else costs
    its literal.
    """
    flat = tensor.base.reshape(-1)
    if flat.size == 0 or not np.any(flat):
        return 0
    values = tensor.with_base(tensor.base).base if tensor.dtype.name != "bfloat16" else tensor.base
    first = flat[0]
    if np.all(flat == first):
        one = 0x3F80 if tensor.dtype.name == "bfloat16" else 1
        return 1 if first == one else 2 + _digits(first)
    if tensor.dtype.name != "bfloat16" and np.array_equal(flat, np.arange(flat.size).astype(flat.dtype)):
        return 3
    sample = values.reshape(-1)
    if sample.size > 4096:
        return LONGEST * sample.size
    return 4 + sum(_digits(value) for value in sample)


def _digits(value: object) -> int:
    """Length of the shortest literal; a nonzero counts more than a zero."""
    text = repr(np.asarray(value).item())
    text = text[:-2] if text.endswith(".0") else text
    return 0 if text in ("0", "False", "0j") else len(text)
