"""Gradients on real frameworks: torch against differences of its own forward, a bug from end to end, no false alarm."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from minrepro.backends.program import Program, Step, program
from minrepro.ir.graph import Graph, Node, Ref
from minrepro.ir.outcome import Completed
from minrepro.ir.tensor import Tensor
from minrepro.ops.gradient import forward, gradient

ROOT = Path(__file__).parents[2]
DRAW = np.random.RandomState(3).standard_normal
STEP = 2.0**-17
"""About the cube root of float64's roundoff, where central differences are most exact."""
STEPS = (
    (Node("softmax", {"self": Ref("x"), "dim": -1}, ("y",)), {"x": DRAW((2, 3))}),
    (Node("gelu", {"self": Ref("x")}, ("y",)), {"x": DRAW((2, 3))}),
    (Node("prod", {"self": Ref("x")}, ("y",)), {"x": np.array([0.0, 2.0, -3.0])}),
    (
        Node("linear", {"input": Ref("x"), "weight": Ref("w"), "bias": Ref("b")}, ("y",)),
        {"x": DRAW((2, 3)), "w": DRAW((4, 3)), "b": DRAW(4)},
    ),
    (Node("elu_", {"self": Ref("x")}, ("y",)), {"x": DRAW((2, 3))}),
    (Node("cat", {"tensors": (Ref("x"), Ref("z")), "dim": 0}, ("y",)), {"x": DRAW(2), "z": DRAW(3)}),
)
WRONG = {
    ("paddle", "prod"): "Paddle 3.3.1 divides by the zero",
    ("oneflow", "prod"): "OneFlow 0.9.0 divides by the zero",
    ("oneflow", "elu_"): "spelled with a copy_, which OneFlow 0.9.0 does not differentiate",
}


def answer(worker, node: Node, feeds: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    tensors = {name: Tensor(np.array(value, order="C"), "float64") for name, value in feeds.items()}
    specs = {name: tensor.spec for name, tensor in tensors.items()}
    text = program(Graph(node.inputs, (node,), node.outputs), specs, worker.backend)
    outcome = worker.run(text, {name: tensors[name] for name in node.inputs}, node.outputs)
    assert isinstance(outcome, Completed), outcome
    return {name: value.values for name, value in outcome.values.items()}


def differences(worker, node: Node, feeds: dict[str, np.ndarray], leaf: str) -> np.ndarray:
    """The gradient by central differences of the forward step, weighted by the incoming gradient."""
    of, found = forward(node), np.zeros(feeds[leaf].shape)
    for index in np.ndindex(found.shape):
        ends = []
        for sign in (1, -1):
            moved = feeds[leaf].copy()
            moved[index] += sign * STEP
            ends.append(answer(worker, of, {**feeds, leaf: moved})[of.outputs[0]])
        found[index] = np.sum((ends[0] - ends[1]) / (2 * STEP) * feeds["dy"])
    return found


@pytest.mark.parametrize("of, feeds", STEPS, ids=[of.op for of, _ in STEPS])
@pytest.mark.parametrize("name", ["torch", "paddle", "oneflow"])
def test_gradients_are_the_slopes_of_the_step(of, feeds, name, workers):
    if (name, of.op) in WRONG:
        pytest.skip(WRONG[name, of.op])
    torch, worker = workers("torch"), workers(name)
    node = gradient(of, (Ref("dy"),), tuple(feeds))
    shape = answer(torch, forward(node), feeds)["made:0"].shape
    known = {**feeds, "dy": np.asarray(np.random.RandomState(4).standard_normal(shape))}
    found = answer(worker, node, known)
    for leaf in feeds:
        expected = differences(torch, node, known, leaf)
        # Central differences err by the third derivative times STEP**2, and by rounding over STEP.
        limit = 1e-8 * (1 + np.abs(expected).max())
        assert np.abs(found[f"d_{leaf}"] - expected).max() <= limit, leaf


TWICE = tuple((of, feeds) for of, feeds in STEPS if of.op in ("softmax", "gelu", "linear", "cat"))

LACKS = {
    ("paddle", "softmax"): "Paddle 3.3.1 has no gradient of softmax_grad",
    ("paddle", "gelu"): "Paddle 3.3.1 has no gradient of gelu_grad",
    ("paddle", "cat"): "Paddle 3.3.1 raises where only one of the gradients of a concat is differentiated",
}


@pytest.mark.parametrize("of, feeds", TWICE, ids=[of.op for of, _ in TWICE])
@pytest.mark.parametrize("name", ["torch", "paddle", "oneflow"])
def test_gradients_of_gradients_are_the_slopes_of_the_gradients(of, feeds, name, workers):
    if (name, of.op) in LACKS:
        pytest.skip(LACKS[name, of.op])
    torch, worker = workers("torch"), workers(name)
    first = gradient(of, (Ref("sent"),), tuple(feeds))
    shape = answer(torch, forward(first), feeds)["made:0"].shape
    known = {**feeds, "sent": np.asarray(np.random.RandomState(4).standard_normal(shape))}
    # One gradient after the other, so that `differences` weighs what it sees by one incoming gradient.
    for leaf in feeds:
        once = gradient(of, (Ref("sent"),), (leaf,))
        node = gradient(once, (Ref("dy"),), (leaf, "sent"))
        fed = {**known, "dy": np.asarray(np.random.RandomState(5).standard_normal(feeds[leaf].shape))}
        found = answer(worker, node, fed)
        for by in (leaf, "sent"):
            expected = differences(torch, node, fed, by)
            limit = 1e-8 * (1 + np.abs(expected).max())
            # What a gradient does not depend on has no gradient.
            assert np.abs(found.get(f"d_{by}", 0.0) - expected).max() <= limit, (leaf, by)


def test_one_step_does_not_leave_gradients_on_for_the_next(workers):
    worker = workers("torch")
    look = Step("look", ("on = torch.tensor(torch.is_grad_enabled())",), ("on",))
    worker.open()
    seen = []
    for gradients in (False, True, False):
        outcome = worker.step(Program((), (look,), {"on": "on"}, gradients), {}, ("on",))
        seen.append(bool(outcome.values["on"].view))
    worker.close()
    assert seen == [False, True, False]


@pytest.mark.parametrize(
    "bug, most",
    [
        ("paddle_diag_embed_cuts_graph", 25), ("paddle_bernoulli_log_prob_backward", 28),
        ("oneflow_stack_double_backward", 30),
    ],
)
def test_a_wrong_gradient_ends_in_a_verified_script(bug, most, python_of, tmp_path):
    for name in ("torch", bug.partition("_")[0]):
        python_of(name)
    command = [sys.executable, "-m", "tests.live.bugs_backward", "--json", bug]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
    (made,) = json.loads(done.stdout)
    assert made["ok"] and made["lines"] <= most, made


def test_a_model_whose_gradients_agree_is_clean(python_of, tmp_path):
    from minrepro import pipeline

    for name in ("torch", "paddle"):
        python_of(name)
    model = tmp_path / "net.py"
    model.write_text(
        "import torch\n\n\n"
        "def build(seed=0):\n"
        "    torch.manual_seed(seed)\n"
        "    layers = torch.nn.Linear(3, 4), torch.nn.LayerNorm(4), torch.nn.GELU(), torch.nn.Softmax(-1)\n"
        "    return torch.nn.Sequential(*layers), (torch.randn(2, 3),)\n"
    )
    spec = {name: os.environ.get(f"MINREPRO_TEST_{name.upper()}", name) for name in ("torch", "paddle")}
    options = pipeline.Options(f"{model}:build", spec["paddle"], spec["torch"], modes=("backward",))
    report = pipeline.Run(options, tmp_path / "run", pipeline.Listener()).execute()
    assert report["verdict"] == "clean"
    seen = report["compared"]["backward"]
    # Each of four steps has one gradient per input and parameter; the first also one per parameter alone.
    assert seen["steps"] == 4 and seen["tensors"] == 3 + 2 + 3 + 1 + 1
