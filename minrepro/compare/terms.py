"""How many terms meet in one output element: the errors of that many roundings add up."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from minrepro import ops
from minrepro.ir.graph import Node
from minrepro.ir.tensor import TensorSpec
from minrepro.ops.row import Args, bind


def terms(node: Node, specs: Mapping[str, TensorSpec]) -> int:
    """Terms added up for one output element, as the operator's row says; the last axis where it does not say.

    Args:
        node: the step.
        specs: specs of the values that it reads, as far as they are known.
    """
    row = ops.find(node.op)
    if row is None or row.kind not in ("reduction", "iterative"):
        return 1
    known = [specs[name] for name in node.inputs if name in specs]
    if row.length is not None and len(known) == len(node.inputs):
        # A variant may have lost the axis that is counted; the frameworks say then what they think of it.
        with contextlib.suppress(IndexError):
            return max(1, int(row.length(Args(bind(row, node.args, specs)))))
    return max((spec.shape[-1] for spec in known if spec.shape), default=1)


def reach(node: Node, specs: Mapping[str, TensorSpec]) -> int:
    """Largest position that a step computes in floating point, as the operator's row says; 1 where it computes none.

    Args:
        node: the step.
        specs: specs of the values that it reads, as far as they are known.
    """
    row = ops.find(node.op)
    if row is None or row.reach is None or any(name not in specs for name in node.inputs):
        return 1
    return max(1, row.reach(Args(bind(row, node.args, specs))))
