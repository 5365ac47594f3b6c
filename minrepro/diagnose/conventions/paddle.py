"""Paddle's conventions, as its 3.3 documentation has them."""

from __future__ import annotations

from typing import Iterator

import numpy as np

from minrepro.diagnose.conventions import Convention
from minrepro.diagnose.predict import by_value
from minrepro.diagnose.rules import dtype_promotion
from minrepro.diagnose.scene import Scene
from minrepro.ir.reduction import Probe
from minrepro.ops.gradient import incoming

COMPARED = (
    "https://www.paddlepaddle.org.cn/documentation/docs/en/guides/model_convert/convert_from_pytorch/api_difference"
)


def _rounded_slope(scene: Scene) -> Iterator[Probe]:
    """The slope with its seven decimals."""
    x = scene.tensor(scene.case.graph.nodes[0], "self")
    if x is not None and x.dtype.kind == "float":
        slopes = {"0.1666667": 0.1666667, "float32(0.1666667)": float(np.float32(0.1666667))}
        yield from by_value(
            scene,
            [
                (f"clip({text} * x + 0.5, 0, 1)", np.clip(x.values * slope + 0.5, 0.0, 1.0))
                for text, slope in slopes.items()
            ],
        )


def _labels_taken_for_shares(scene: Scene) -> Iterator[Probe]:
    """The gradient of labels that add up to 1, whatever they add up to."""
    node = scene.case.graph.nodes[0]
    x, target = scene.tensor(node, "self"), scene.tensor(node, "target")
    sent = incoming(node)[0]
    if x is None or target is None or sent is None or not target.dtype.inexact or node.args.get("weight") is not None:
        return
    if node.args.get("label_smoothing") or scene.divergence.output != f"d_{node.args['self'].name}":
        return
    axis, logits, dy = min(1, len(x.shape) - 1), x.values, scene.case.feeds[sent.name].values
    share = np.exp(logits - logits.max(axis, keepdims=True))
    value = share / share.sum(axis, keepdims=True) - target.values
    rows = value.size // max(1, value.shape[axis])
    reduction = node.args.get("reduction", 1)
    value = value * (np.expand_dims(dy, axis) if reduction == 0 else dy / (rows if reduction == 1 else 1))
    yield from by_value(scene, [("softmax(x) less the labels, which is right where they add up to 1", value)])


CONVENTIONS = (
    Convention(
        "labels that add up to 1",
        ("grad:cross_entropy_loss",),
        "torch differentiates soft labels as they are; Paddle takes it that those of a sample add up to 1",
        "label = label / label.sum(1, keepdim=True)",
        "paddle.nn.functional.cross_entropy",
        "the sum of the labels for each sample should be 1",
        probes=_labels_taken_for_shares,
    ),
    Convention(
        "slope of hardsigmoid",
        ("hardsigmoid", "hardsigmoid_"),
        "the slope is 1 / 6 in torch and 0.1666667 in Paddle",
        "paddle.nn.functional.hardsigmoid(x, slope=1 / 6)",
        "paddle.nn.functional.hardsigmoid",
        "The slope of hardsigmoid function. Default is 0.1666667",
        probes=_rounded_slope,
    ),
    Convention(
        "embedding padding_idx",
        ("embedding",),
        "torch looks the padding index up like any other row; Paddle answers with zeros",
        "weight[padding_idx] = 0 before the first use, or leave padding_idx away in Paddle's call",
        "paddle.nn.functional.embedding",
        "It will pad all-zero data when id is",
    ),
    Convention(
        "one_hot dtype",
        ("one_hot",),
        "one_hot is int64 in torch and float32 in Paddle",
        "paddle.nn.functional.one_hot(x, num_classes).astype('int64')",
        "paddle.nn.functional.one_hot",
        "A Tensor with type float32",
        symptoms=("dtype",),
        probes=dtype_promotion.probes,
    ),
    Convention(
        "batch_norm momentum",
        ("batch_norm",),
        "momentum is the weight of the new statistics in torch and of the old ones in Paddle",
        "momentum=0.9 in Paddle for torch's momentum=0.1",
        "paddle.nn.functional.batch_norm",
        "moving_mean and moving_var computation. Default: 0.9",
        f"{COMPARED}/input_args_usage_diff/torch.nn.functional.batch_norm.html",
    ),
    Convention(
        "linear weight layout",
        ("linear",),
        "the weight of a linear layer is (out, in) in torch and (in, out) in Paddle",
        "layer.weight.set_value(weight.T) when a torch checkpoint is loaded",
        "paddle.nn.functional.linear",
        "Out = XW + b",
    ),
    Convention(
        "split sizes",
        ("split", "split_with_sizes"),
        "an int is the size of each part in torch and the number of parts in Paddle",
        "paddle.split(x, x.shape[axis] // size, axis)",
        "paddle.split",
        "indicates the number of equal sized sub-Tensors",
    ),
    Convention(
        "gather",
        ("gather",),
        "gather takes one element per index in torch and whole slices in Paddle",
        "paddle.take_along_axis(x, index, axis, broadcast=False)",
        "paddle.gather",
        "PyTorch compatible gather, calls a non-broadcast `paddle.take_along_axis`",
    ),
    Convention(
        "average pooling of padding",
        ("avg_pool1d", "avg_pool2d", "avg_pool3d"),
        "padded zeros count as elements by default in torch and do not in Paddle",
        "exclusive=False in Paddle for torch's count_include_pad=True",
        "paddle.nn.functional.avg_pool2d",
        "Whether to exclude padding points in average pooling",
    ),
    Convention(
        "median of an even number",
        ("median", "median.dim"),
        "the lower of the two middle values in torch, their mean in Paddle",
        "paddle.median(x, axis, mode='min')",
        "paddle.median",
        "the default parameter for mode setting is min instead of avg",
    ),
    Convention(
        "attention layout",
        ("scaled_dot_product_attention",),
        "(batch, heads, length, features) in torch, (batch, length, heads, features) in Paddle",
        "x.transpose([0, 2, 1, 3]) around Paddle's call",
        "paddle.nn.functional.scaled_dot_product_attention",
        "[batch_size, seq_len, num_heads, head_dim]",
    ),
)
