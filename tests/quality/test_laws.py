"""Decompositions are judged by what they have to keep: torch and Paddle both do, and what breaks a law is named."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from minrepro import ops
from minrepro.compare.laws import LEGAL, MATRIX, laws, worst
from minrepro.compare.pair import Pair, open_side
from minrepro.ir.case import Case
from minrepro.ir.dtype import dtype
from minrepro.ir.graph import Graph, Node, Ref
from minrepro.ir.outcome import Completed
from minrepro.ir.tensor import Tensor
from minrepro.options import Options
from minrepro.pipeline import Run
from minrepro.record import Listener

from ..faults import FOLDER

OUTPUTS = {"linalg_svd": 3, "linalg_eigh": 2, "linalg_qr": 2, "linalg_eig": 2, "linalg_eigvals": 1}
SIZES = {"linalg_svd": (6, 4), "linalg_qr": (6, 4)}


def case(op: str, name: str = "float32", scale: float = 1.0, shape: tuple[int, ...] = (), seed: int = 0) -> Case:
    """One decomposition of a normal matrix, symmetric where the operator wants one."""
    draw = np.random.RandomState(seed).standard_normal(shape or SIZES.get(op, (5, 5)))
    if op == "linalg_eigh":
        draw = draw + draw.swapaxes(-1, -2)
    parameter, of = MATRIX[op], dtype(name)
    feeds = {parameter: Tensor((draw * scale).astype(of.storage), of)}
    outputs = tuple(f"out{i}" for i in range(OUTPUTS[op]))
    args = {parameter: Ref(parameter)} | ({"full_matrices": False} if op == "linalg_svd" else {})
    return Case(Graph((parameter,), (Node(op, args, outputs),), outputs), feeds, "torch", "paddle")


@pytest.fixture(scope="module")
def pair(python_of, tmp_path_factory):
    folder: Path = tmp_path_factory.mktemp("laws")
    opened = Pair(*(open_side(f"{name}@{python_of(name)}", folder) for name in ("torch", "paddle")), folder)
    yield opened
    opened.stop()


@pytest.mark.parametrize("scale", [1.0, 1e4, 1e-4])
@pytest.mark.parametrize("name", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("op", OUTPUTS)
def test_torch_and_paddle_keep_the_laws(op: str, name: str, scale: float, pair: Pair) -> None:
    for shape in ((), (2, 3, 3), (40, 40)):
        asked = case(op, name, scale, shape)
        comparison, left, right = pair.compare(asked)
        assert comparison.verdict in ("same", "arithmetic"), comparison
        assert isinstance(left, Completed) and isinstance(right, Completed)
        for outcome in (left, right):
            found = worst(asked.graph.nodes[0], asked.feeds, outcome.values)
            assert found is not None and found.ratio < LEGAL / 4, found


def flipped(values: Mapping[str, Tensor], names: tuple[str, ...]) -> dict[str, Tensor]:
    """The second column of some outputs with the other sign."""
    changed = dict(values)
    for name in names:
        flip = values[name].view.copy()
        index = (slice(None), 1) if name != "out2" and not (name == "out1" and "out0" in names) else (1, slice(None))
        flip[index] = -flip[index]
        changed[name] = Tensor(flip, values[name].dtype)
    return changed


@pytest.mark.parametrize("op, names", [("linalg_svd", ("out0", "out2")), ("linalg_eigh", ("out1",)),
                                       ("linalg_qr", ("out0", "out1")), ("linalg_eig", ("out1",))])
def test_another_sign_is_no_difference(op: str, names: tuple[str, ...], pair: Pair) -> None:
    asked = case(op)
    left = pair.run(asked, pair.reference)
    assert isinstance(left, Completed)
    found = worst(asked.graph.nodes[0], asked.feeds, flipped(left.values, names))
    assert found is not None and found.ratio < LEGAL


BROKEN: dict[str, tuple[str, Callable[[np.ndarray], np.ndarray], str]] = {
    "linalg_svd": ("out0", lambda u: u * 1.001, "orthonormal"),
    "linalg_eigh": ("out1", lambda v: v[:, ::-1].copy(), "A V is V diag(w)"),
    "linalg_qr": ("out1", lambda r: np.abs(r), "Q R is A"),
    "linalg_eig": ("out0", lambda w: w.conj() * 1.001, "A V is V diag(w)"),
    "linalg_eigvals": ("out0", lambda w: np.full_like(w, w.mean()), "squares"),
}


@pytest.mark.parametrize("op", OUTPUTS)
def test_a_broken_law_is_named(op: str, pair: Pair) -> None:
    asked = case(op)
    left = pair.run(asked, pair.reference)
    assert isinstance(left, Completed)
    name, change, says = BROKEN[op]
    values = {**left.values, name: Tensor(change(left.values[name].view), left.values[name].dtype)}
    node = asked.graph.nodes[0]
    found = worst(node, asked.feeds, values)
    assert found is not None and found.ratio > LEGAL
    over = [law.says for law in laws(node) if says in law.says]
    assert over, f"no law of {op} speaks of {says!r}"


def test_every_law_belongs_to_an_operator() -> None:
    assert all(ops.find(op) is not None and MATRIX[op] in ops.find(op).params for op in MATRIX)


def test_a_script_states_the_law(python_of, tmp_path: Path) -> None:
    torch = f"torch@{python_of('torch')}"
    found = case("linalg_svd")
    candidate = f"{torch}+replay:{FOLDER / 'law_svd.py'}"
    asked = Case(found.graph, found.feeds, torch, candidate)
    run = Run(Options("", candidate, torch, deadline_s=20.0), tmp_path, Listener())
    run.start_at(asked)
    report = run.execute()
    assert report["verdict"] == "divergence" and report["verified"]["without_replay"] == 0
    script = (tmp_path / "repro.py").read_text()
    assert "expected = 0.0  # " in script and "np.eye" in script
