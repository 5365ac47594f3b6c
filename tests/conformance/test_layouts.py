"""Every dtype and every layout survives the way to each framework and back, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest

from minrepro import backends
from minrepro.backends.program import program
from minrepro.errors import Unsupported
from minrepro.ir.dtype import DTYPES, dtype
from minrepro.ir.graph import Graph
from minrepro.ir.outcome import Completed
from minrepro.ir.tensor import Tensor, from_numpy

BACKENDS = ("torch", "paddle", "oneflow", "numpy")


def _views() -> dict[str, np.ndarray]:
    base = np.arange(24).reshape(2, 3, 4)
    return {
        "contiguous": base,
        "transposed": base[0].T,
        "permuted": base.transpose(2, 0, 1),
        "row range": base[0, 1:],
        "column range": base[0, :, 1:3],
        "step": base[:, ::2],
        "step and permuted": base[:, :, ::3].transpose(1, 2, 0),
        "broadcast": np.broadcast_to(base[0, :1], (3, 4)),
        "size one": base[:1, :, :1],
        "scalar": base[0, 0, 1],
        "empty": base[:0],
        "windows": np.lib.stride_tricks.sliding_window_view(np.arange(6), 3),
    }


LACKING = {
    "oneflow": {"int16", "complex64", "complex128"},
    "numpy": {"bfloat16"},
}
"""Dtypes that a framework has no tensors of; a case with one is refused by name."""


@pytest.mark.parametrize("name", BACKENDS)
def test_dtypes_and_layouts_survive(name: str, workers) -> None:
    worker, backend = workers(name), backends.table()[name]
    worker.open()
    for kind in DTYPES:
        if kind in LACKING.get(name, ()):
            continue
        for label, view in _views().items():
            tensor = _as(view, kind)
            graph = Graph(("x",), (), ("x",))
            text = program(graph, {"x": tensor.spec}, backend)
            outcome = worker.step(text, {"x": tensor}, ("x",))
            assert isinstance(outcome, Completed), f"{name} {kind} {label}: {outcome}"
            back = outcome.values["x"]
            assert back.dtype == tensor.dtype, f"{name} {kind} {label}: came back as {back.dtype}"
            assert back.shape == tensor.shape, f"{name} {kind} {label}: shape {back.shape} for {tensor.shape}"
            assert back.view.tobytes() == tensor.view.tobytes(), f"{name} {kind} {label}: other bits"
            if name == "torch" and tensor.size:
                real = [i for i, n in enumerate(tensor.shape) if n > 1]
                assert [back.view.strides[i] for i in real] == [tensor.view.strides[i] for i in real], label
    assert worker.close() is None


@pytest.mark.parametrize("name", LACKING)
def test_a_missing_dtype_is_refused_by_name(name: str) -> None:
    for kind in LACKING[name]:
        with pytest.raises(Unsupported, match=f"has no {kind}"):
            program(Graph(("x",), (), ("x",)), {"x": _as(np.arange(4), kind).spec}, backends.table()[name])


def _as(view: np.ndarray, kind: str) -> Tensor:
    return from_numpy(view).cast(dtype(kind)) if kind != "bool" else from_numpy(view % 2 == 1)
