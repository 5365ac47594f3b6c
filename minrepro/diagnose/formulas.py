"""Normalisations by hand in float64, so that a rule can change one part of the formula."""

from __future__ import annotations

from typing import Callable, Iterator

import msgspec
import numpy as np

from minrepro.diagnose.scene import Scene


class Norm(msgspec.Struct, frozen=True):
    """One normalisation: moments, and what turns a reciprocal root into the result.

    Attributes:
        op: the operator.
        variance: of each group, with its axes kept.
        count: values behind each variance.
        eps: as it was given.
        result: reciprocal root -> output, with weight and bias.
    """

    op: str
    variance: np.ndarray
    count: int
    eps: float
    result: Callable[[np.ndarray], np.ndarray]


def norms(scene: Scene) -> Iterator[Norm]:
    """The normalisation that a case of one step is, if it is one over its own inputs."""
    if len(scene.case.graph.nodes) != 1:
        return
    node = scene.case.graph.nodes[0]
    x = scene.tensor(node, "input")
    if x is None or not x.dtype.inexact or not x.size:
        return
    values, eps = x.values, float(node.args.get("eps") or 1e-5)
    weight, bias = (scene.tensor(node, name) for name in ("weight", "bias"))
    w = 1.0 if weight is None else weight.values
    b = 0.0 if bias is None else bias.values
    if node.op in ("layer_norm", "native_layer_norm"):
        axes = tuple(range(values.ndim - len(node.args["normalized_shape"]), values.ndim))
        yield _norm(node.op, values, axes, eps, w, b, values.shape)
    elif node.op in ("group_norm", "instance_norm", "batch_norm") and values.ndim > 1:
        channels = (-1,) + (1,) * (values.ndim - 2)
        w, b = (v.reshape(channels) if isinstance(v, np.ndarray) else v for v in (w, b))
        if node.op == "batch_norm" and node.args.get("training"):
            yield _norm(node.op, values, (0, *range(2, values.ndim)), eps, w, b, values.shape)
        elif node.op != "batch_norm":
            groups = int(node.args.get("num_groups") or values.shape[1])
            if values.shape[1] % groups == 0:
                split = values.reshape(values.shape[0], groups, -1)
                yield _norm(node.op, split, (2,), eps, w, b, values.shape)


def _norm(op: str, x: np.ndarray, axes: tuple[int, ...], eps: float, w, b, shape: tuple[int, ...]) -> Norm:
    centred = x - x.mean(axes, keepdims=True)
    variance = (centred**2).mean(axes, keepdims=True)
    count = int(np.prod([x.shape[axis] for axis in axes]))
    return Norm(op, variance, count, eps, lambda root: (centred * root).reshape(shape) * w + b)
