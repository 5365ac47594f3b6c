"""Which cause each planted fault has, with the smallest case that shows it.

The faults of this suite say so themselves (a table ``CAUSE``); for those that were planted for the reducer it stands
here. ``unexplained`` is a fault that no rule is meant to know: every rule has to stay silent on it.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path
from typing import Any, Mapping

import msgspec

from minrepro import ops
from minrepro.ir.case import Case
from minrepro.ir.graph import Graph, Node, Ref
from minrepro.ops import sample
from minrepro.ops.gradient import gradient

FOLDER = Path(__file__).resolve().parents[1] / "faults"
IMAGE, SQUARE = "normal(1, 3, 8, 8)", "normal(4, 8)"
NORM = {"input": SQUARE, "weight": "positive(8)", "bias": "normal(8, seed=1)"}
LAYER = {"input": SQUARE, "weight": "normal(6, 8, seed=1)", "bias": "normal(6, seed=2)"}
QUERIES = {"query": "normal(1, 2, 9, 8)", "key": "normal(1, 2, 9, 8, seed=1)", "value": "normal(1, 2, 9, 8, seed=2)"}
CONV = {"input": IMAGE, "weight": "normal(4, 3, 3, 3, seed=1)", "bias": "normal(4, seed=2)"}


class Planted(msgspec.Struct, frozen=True):
    """A fault file, the cause that has to be named, and the case.

    With `wrt` it is about the gradient by these feeds, and the feed ``grad_out`` is the incoming one.
    """

    file: str
    cause: str
    op: str
    feeds: Mapping[str, str]
    args: Mapping[str, Any] = {}
    outputs: tuple[str, ...] = ()
    wrt: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """The fault file."""
        return FOLDER / f"{self.file}.py"

    @property
    def case(self) -> Case:
        """The case as the rules see it."""
        values = {name: eval(text, vars(sample)) for name, text in self.feeds.items()}  # our own table, not input
        row = ops.find(self.op)
        assert row is not None, self.op
        count = next((s["_outputs"] for s in row.samples if "_outputs" in s), 1)
        made = tuple(f"out{i}" for i in range(count)) if count > 1 else ("out",)
        args = {**{name: Ref(name) for name in values if name != "grad_out"}, **self.args}
        node = Node(row.name, args, made)
        if self.wrt:
            node = gradient(node, (Ref("grad_out"),), self.wrt)
            graph = Graph(node.inputs, (node,), node.outputs)
            return Case(graph, values, "torch", "torch", "backward")
        return Case(Graph(tuple(values), (node,), self.outputs or made), values, "torch", "torch")


OTHERS = (
    Planted("gelu_tanh", "approximate formula", "gelu", {"self": SQUARE}),
    Planted("layer_norm_eps", "epsilon", "layer_norm", NORM, {"normalized_shape": (8,)}),
    Planted("layer_norm_ddof", "ddof", "layer_norm", NORM, {"normalized_shape": (8,)}),
    Planted("var_ddof", "ddof", "var", {"self": SQUARE}, {"dim": (1,)}),
    Planted("conv2d_padding_edge", "padding", "conv2d", CONV, {"padding": (1, 1)}),
    Planted(
        "max_pool2d_padding_zero",
        "padding",
        "max_pool2d",
        {"self": "values(__import__('numpy').full((1, 1, 4, 4), -1.5))"},
        {"kernel_size": (2, 2), "padding": (1, 1)},
    ),
    Planted("avg_pool2d_count", "padding", "avg_pool2d", {"self": IMAGE}, {"kernel_size": (2, 2), "padding": (1, 1)}),
    Planted("softmax_axis", "axis", "softmax", {"self": "normal(2, 3, 4, 5)"}, {"dim": -1}),
    Planted("linear_bias_twice", "bias twice or missing", "linear", LAYER),
    Planted(
        "where_swapped",
        "operands swapped",
        "where",
        {"condition": "boolean(4, 8)", "self": SQUARE, "other": "normal(4, 8, seed=1)"},
    ),
    Planted("relu_nan", "NaN propagation", "relu", {"self": "values([1.0, float('nan'), -1.0])"}),
    Planted("clamp_nan", "NaN propagation", "clamp", {"self": "values([1.0, float('nan'), -1.0])"}, {"min": 0.0}),
    Planted(
        "softmax_half_overflow",
        "overflow",
        "softmax",
        {"self": "values([[300.0, 299.0, 1.0]], 'float16')"},
        {"dim": -1},
    ),
    Planted(
        "conv2d_stride",
        "argument ignored",
        "conv2d",
        {"input": IMAGE, "weight": "normal(4, 3, 1, 1, seed=1)"},
        {"stride": (2, 2)},
    ),
    Planted("pad_value", "argument ignored", "pad", {"self": SQUARE}, {"pad": (1, 1), "value": 3.0}),
    Planted("tanh_dtype", "dtype promotion", "tanh", {"self": SQUARE}),
    Planted("adaptive_pool_sum", "constant factor", "adaptive_avg_pool2d", {"self": IMAGE}, {"output_size": (2, 2)}),
    Planted(
        "add_strides",
        "source strides ignored",
        "add",
        {"self": "transposed(normal(3, 4))", "other": "normal(4, 3, seed=1)"},
    ),
    Planted(
        "linear_weight_strides",
        "source strides ignored",
        "linear",
        {"input": SQUARE, "weight": "transposed(normal(8, 6, seed=1))"},
    ),
    Planted(
        "matmul_rank4_raises",
        "rank",
        "matmul",
        {"self": "normal(2, 3, 4, 5)", "other": "normal(2, 3, 5, 4, seed=1)"},
    ),
    Planted("attention_scale", "unexplained", "scaled_dot_product_attention", QUERIES),
    Planted("leaky_relu_slope", "unexplained", "leaky_relu", {"self": SQUARE}),
    Planted(
        "batch_norm_no_root",
        "unexplained",
        "batch_norm",
        {
            "input": "normal(4, 3, 5)",
            "weight": "positive(3)",
            "bias": "normal(3, seed=1)",
            "running_mean": "normal(3, seed=2)",
            "running_var": "positive(3, seed=3)",
        },
    ),
    Planted("sigmoid_above_2", "unexplained", "sigmoid", {"self": "normal(6, 20)"}),
    Planted("gelu_below_minus_1", "unexplained", "gelu", {"self": "normal(6, 20)"}),
    Planted("exp_negative", "unexplained", "exp", {"self": "normal(6, 20)"}),
    Planted("mean_dim7", "constant factor", "mean", {"self": "normal(4, 9)"}, {"dim": (1,)}),
    Planted("linear_in7", "unexplained", "linear", {"input": "normal(4, 9)", "weight": "normal(6, 9, seed=1)"}),
    Planted("softmax_dim7", "unexplained", "softmax", {"self": "normal(4, 9)"}, {"dim": -1}),
    Planted("cumsum_exclusive", "unexplained", "cumsum", {"self": SQUARE}, {"dim": 1}),
    Planted("gelu_multiple_of_5", "unexplained", "gelu", {"self": "normal(4, 5)"}),
    Planted(
        "conv2d_kernel7",
        "unexplained",
        "conv2d",
        {"input": "normal(1, 3, 9, 9)", "weight": "normal(4, 3, 7, 7, seed=1)"},
    ),
    Planted("attention_keys7", "unexplained", "scaled_dot_product_attention", QUERIES),
)


@cache
def table() -> tuple[Planted, ...]:
    """Every planted fault with a cause, or with none on purpose."""
    found = []
    for path in sorted(FOLDER.glob("cause_*.py")):
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(statement, ast.Assign) and getattr(statement.targets[0], "id", "") == "CAUSE":
                data = ast.literal_eval(statement.value)
                found.append(
                    Planted(
                        path.stem,
                        data["cause"],
                        data["op"],
                        data["feeds"],
                        data.get("args", {}),
                        tuple(data.get("outputs", ())),
                        tuple(data.get("wrt", ())),
                    )
                )
    return (*found, *OTHERS)
