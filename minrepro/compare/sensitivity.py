"""How far one rounding of the inputs moves each element of the output: the yardstick of the verdict.

Exact for operators that multiply two inputs and add up (matmul, convolution): the variance of such an output is the
same operator on the squares. Sampled from slightly different inputs for all others, and pulled towards the mean of the
tensor, since the smallest of many sampled values is far too small (design note on reduction, 5.3). What a formula rounds
inside, where no rounding of the inputs moves it, comes on top (`inside`).
"""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np

from minrepro.ir.graph import Node, Ref
from minrepro.ir.tensor import Tensor
from minrepro.ops.gradient import forward, incoming, is_gradient
from minrepro.ops.saturation import LEVELLED

SAMPLES = 4
"""Float64 runs behind a sampled sensitivity (same source)."""
NUDGE = 2.0**-26
"""Relative size of the input noise in those runs (same source)."""
SHRINKAGE = 4.0
"""Weight of the tensor's mean against the samples (same source)."""
SQUARES = 1e150
"""Steps up to which squares and their sums stay finite in float64."""

_PRODUCTS: dict[str, tuple[str, str, str]] = {
    "matmul": ("self", "other", ""),
    "mm": ("self", "mat2", ""),
    "bmm": ("self", "mat2", ""),
    "mv": ("self", "vec", ""),
    "dot": ("self", "tensor", ""),
    "linear": ("input", "weight", "bias"),
    "addmm": ("mat1", "mat2", "self"),
    "baddbmm": ("batch1", "batch2", "self"),
    **{f"conv{rank}d": ("input", "weight", "bias") for rank in (1, 2, 3)},
    **{f"conv_transpose{rank}d": ("input", "weight", "bias") for rank in (1, 2, 3)},
    "convolution": ("input", "weight", "bias"),
}
"""Operator -> its two factors and what is added to their product."""


def product(op: str, args: Mapping[str, Any]) -> tuple[str, str, str] | None:
    """The two factors and the addend of an operator that is bilinear with these arguments; else None."""
    if op not in _PRODUCTS or any(args.get(name, 1) != 1 for name in ("alpha", "beta")):
        return None
    return _PRODUCTS[op]


def squared(values: np.ndarray, part: int) -> np.ndarray:
    """What to feed for a factor (0, 1) or the addend (2) so that the operator answers with the squared sensitivity.

    Both factors are nudged, so a term of the product varies twice as much as an addend.
    """
    return values**2 * (2.0 if part == 0 else 1.0)


def exact(answer: np.ndarray) -> np.ndarray:
    """The sensitivity from the operator's answer on `squared` inputs."""
    with np.errstate(all="ignore"):
        return np.sqrt(np.abs(answer))


def sampled(base: np.ndarray, moved: Sequence[np.ndarray]) -> np.ndarray:
    """The sensitivity from outputs of nudged inputs.

    Args:
        base: output of the inputs as they are.
        moved: outputs of inputs times ``1 + NUDGE * normal noise``.
    """
    with np.errstate(all="ignore"):
        steps = [np.abs(other - base) / NUDGE for other in moved]
    steps = [np.where(np.isfinite(step), step, 0.0) for step in steps]
    # The squares of steps near the end of the range would be infinite, and excuse every other element.
    unit = max([1.0, *(float(step.max(initial=0.0)) for step in steps)])
    unit = unit if unit > SQUARES else 1.0
    total = sum(((step / unit) ** 2 for step in steps), np.zeros(np.shape(base)))
    runs = max(len(moved), 1)
    mean = float(np.mean(total)) / runs if total.size else 0.0
    return unit * np.sqrt((total + SHRINKAGE * mean) / (runs + SHRINKAGE))


def inside(node: Node, feeds: Mapping[str, Tensor]) -> dict[str, np.ndarray]:
    """What a step may lose in a function that levels off inside it (`ops.saturation`), as a sensitivity of its result.

    Args:
        node: the step.
        feeds: what it reads.

    Returns:
        Output -> size for each element; empty where nothing levels off.
    """
    of = forward(node) if is_gradient(node.op) else node
    read = of.args.get("self")
    if of.op not in LEVELLED or not isinstance(read, Ref) or feeds[read.name].dtype.kind != "float":
        return {}
    x = feeds[read.name]
    with np.errstate(all="ignore"):
        levelled = LEVELLED[of.op](x.values, of.args)
        if of is node:
            lost = levelled.lost(x.dtype.roundoff, levelled.result)
        else:
            sent = feeds[incoming(node)[0].name].values
            lost = np.abs(sent) * levelled.lost(x.dtype.roundoff, levelled.slope)
    return {node.outputs[0]: np.where(np.isfinite(lost), lost, 0.0)}
