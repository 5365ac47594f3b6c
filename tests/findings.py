"""Findings built by hand: real bugs of real releases, and one replay, with what each framework was seen to do."""

from __future__ import annotations

import numpy as np

from minrepro.ir.case import Case
from minrepro.ir.divergence import Divergence
from minrepro.ir.dtype import dtype
from minrepro.ir.graph import Graph, Node, Ref
from minrepro.ir.outcome import Completed, Crashed, Outcome, Raised, TimedOut
from minrepro.ir.reduction import Diagnosis, Finding, Probe
from minrepro.ir.signature import Signature, normalise
from minrepro.ir.tensor import CONTIGUOUS, Expand, Layout, Permute, Slice, Tensor

TRANSPOSED = Layout((Permute((1, 0)),))
EVERY_SECOND = Layout((Slice(0, 0, 2, 2, 3),))
VERSIONS = {
    "torch": {"torch": "2.13.0+cpu", "numpy": "2.4.6"},
    "paddle": {"paddle": "3.3.1", "numpy": "2.4.6"},
    "oneflow": {"oneflow": "0.9.0", "numpy": "1.26.4"},
}
LAYOUT = Diagnosis(
    "source strides ignored", "candidate", "The copy reads the source in the order of its memory.",
    (Probe("make the source contiguous", "equal", "equal", True),), ("transposed", "precision"),
)
UNEXPLAINED = Diagnosis("unexplained", "candidate", "")


def tensor(data: object, of: str = "float32", layout: Layout = CONTIGUOUS) -> Tensor:
    """A tensor from a nested list."""
    return Tensor(np.array(data, of), of, layout)


def finding(
    backend: str,
    op: str,
    feeds: dict[str, Tensor],
    constants: dict[str, object],
    symptom: str,
    outcome: Outcome,
    expected: Tensor | None = None,
    *,
    bound: float = 0.0,
    why: str = "float64 NumPy",
    terse: bool = False,
    replay: str = "",
    diagnosis: Diagnosis = UNEXPLAINED,
) -> Finding:
    """One step on one framework; the feeds are named like the parameters they are passed for, ``indices.1`` for tuples."""
    args: dict[str, object] = dict(constants)
    for name in feeds:
        parameter, _, position = name.partition(".")
        args[parameter] = (None,) * int(position) + (Ref(name),) if position else Ref(name)
    graph = Graph(tuple(feeds), (Node(op, args, ("out",), "blocks.0", "/home/ada/nets/model.py:7"),), ("out",))
    candidate = f"{backend}+replay:{replay}" if replay else backend
    kind = outcome.kind if isinstance(outcome, Raised) else outcome.signal if isinstance(outcome, Crashed) else ""
    message = normalise(outcome.message) if isinstance(outcome, Raised) else ""
    return Finding(
        Case(graph, feeds, "torch", candidate, terse=terse), "candidate", Divergence(symptom, "candidate", "out"),
        {} if expected is None else {"out": expected}, why, {"out": bound}, outcome,
        Signature(symptom, "candidate", (op,), kind, message), diagnosis, VERSIONS[backend],
        replay, "mixer", "blocks.0, linear, /home/ada/nets/model.py:7",
    )


def done(value: Tensor) -> Completed:
    """The outcome of a program that ran and gave this."""
    return Completed({"out": value})


def replayed(backend: str) -> Finding:
    """The founding case, four elements, on one framework."""
    source = tensor([[0, 1], [2, 3]], layout=TRANSPOSED)
    return finding(
        backend, "copy_.numpy", {"self": tensor([[0, 0], [0, 0]]), "src": source}, {}, "value",
        done(tensor([[0, 1], [2, 3]])), source, why="bits of the source", replay="flat-copy", diagnosis=LAYOUT,
    )


FINDINGS = {
    "torch_copy": replayed("torch"),
    "paddle_copy": replayed("paddle"),
    "oneflow_copy": replayed("oneflow"),
    "paddle_index": finding(
        "paddle", "index", {"self": tensor([[0, 1], [2, 3]], layout=TRANSPOSED), "indices.1": tensor([1], "int64")}, {},
        "value", done(tensor([[1], [3]])), tensor([[2], [3]]), why="NumPy on the same view",
    ),
    "oneflow_fill": finding(
        "oneflow", "fill_", {"self": tensor([0, 0, 0], layout=EVERY_SECOND)}, {"value": 1}, "value",
        done(Tensor(np.array([1, 1, 0], np.float32), layout=EVERY_SECOND)), tensor([1, 1]), why="every viewed element",
    ),
    "oneflow_greater": finding(
        "oneflow", "gt", {"self": tensor([np.nan])}, {"other": 0}, "value", done(tensor([True], "bool")),
        tensor([False], "bool"), why="IEEE 754: nothing is greater than nan",
    ),
    "paddle_logsumexp": finding(
        "paddle", "logsumexp", {"self": tensor([-np.inf])}, {"dim": (0,)}, "nonfinite", done(tensor(np.nan)),
        tensor(-np.inf), bound=1e-6, terse=True,
    ),
    "torch_ndtr": finding(
        "torch", "special_ndtr", {"self": tensor([-9.0], "float64")}, {}, "value", done(tensor([0.0], "float64")),
        tensor([1.1285884059538405e-19], "float64"), bound=1e-24, why="erfc(9 / sqrt(2)) / 2",
    ),
    "oneflow_negate": finding(
        "oneflow", "neg", {"self": tensor([1], "int32")}, {}, "dtype", done(tensor([-1])), tensor([-1], "int32"),
        why="the dtype of the input",
    ),
    "paddle_mask": finding(
        "paddle", "index",
        {"self": tensor([[0, 1, 2], [3, 4, 5]], layout=TRANSPOSED), "indices.1": tensor([True, False], "bool")}, {},
        "shape", done(tensor([[0, 1]])), tensor([[0], [1], [2]]), why="NumPy on the same view",
    ),
    "oneflow_var": finding(
        "oneflow", "var.correction", {"self": tensor([[1, 2]])}, {"dim": (0, 1), "correction": 1}, "exception",
        Raised("IndexError", "Dimension out of range (expected to be in range of [-1, 0], but got 1)"), tensor(0.5),
        bound=1e-7,
    ),
    "oneflow_divide": finding(
        "oneflow", "floor_divide", {"self": tensor([1], "int64"), "other": tensor([0], "int64")}, {}, "crash",
        Crashed("SIGFPE"), None, why="an exception or any number, but not the end of the process",
    ),
    "oneflow_argsort": finding(
        "oneflow", "argsort", {"self": tensor([])}, {"dim": -1}, "crash", Crashed("SIGFPE"), tensor([], "int64"),
        why="nothing to sort", terse=True,
    ),
    "torch_hang": finding(
        "torch", "relu", {"self": tensor([[1.0]])}, {}, "hang", TimedOut(5.0), tensor([[1.0]]), why="an answer",
    ),
    "paddle_accepts": finding(
        "paddle", "relu", {"self": tensor([1.0])}, {}, "accepted", done(tensor([1.0])), why="torch refuses this"
    ),
    "torch_bfloat16": finding(
        "torch", "relu", {"self": tensor([[0.1, 3.0]]).cast(dtype("bfloat16"))}, {}, "value",
        done(tensor([[0, 3]]).cast(dtype("bfloat16"))), tensor([[0.1, 3.0]]).cast(dtype("bfloat16")),
    ),
    "torch_broadcast": finding(
        "torch", "relu", {"self": tensor([[1.5]], layout=Layout((Expand(1, 3),)))}, {}, "value",
        done(tensor([[0, 0, 0]])), tensor([[1.5, 1.5, 1.5]]), why="every element is positive",
    ),
}
