"""Causes of real bugs, named on the wheels that have them: each rule on the smallest case that it was written for."""

from __future__ import annotations

import numpy as np
import pytest

from minrepro.compare.pair import Pair, open_side
from minrepro.diagnose import Scene, diagnose
from minrepro.ir.case import Case
from minrepro.ir.graph import Graph, Node, Ref
from minrepro.ops.gradient import gradient
from minrepro.ops.sample import normal, values

LINE = {"dimension": 0, "size": 2, "step": 1}
BUGS = [
    ("oneflow", "rank", "matmul", {"self": normal(2, 2, 3), "other": normal(3)}, {}, ()),
    ("oneflow", "special path of size 0 or 1", "argsort", {"self": normal(0)}, {}, ()),
    ("oneflow", "saved value overwritten", "celu_", {"self": normal(2, 3)}, {}, ("self",)),
    ("oneflow", "write not recorded", "zero_", {"self": normal(2, 3)}, {}, ("self",)),
    ("oneflow", "transposed", "diagonal", {"self": normal(1, 2, 3)}, {"offset": 0, "dim1": 1, "dim2": 2}, ("self",)),
    ("paddle", "rank", "layer_norm", {"input": normal(3, 2, 3), "weight": normal(2, 3)}, {"normalized_shape": (2, 3)}, ()),
    ("paddle", "precision policy", "exp", {"self": normal(2, 3, of="complex128")}, {}, ()),
    ("paddle", "padding", "avg_pool2d", {"self": normal(1, 1, 5, 5)},
     {"kernel_size": (3, 3), "padding": (1, 1), "count_include_pad": False, "divisor_override": 2}, ()),
    ("paddle", "gradient cut", "diag_embed", {"self": normal(3)}, {}, ("self",)),
    ("paddle", "frozen input", "cholesky_solve", {"self": normal(2, 2), "input2": values([[1.0, 0.0], [0.5, 2.0]])}, {},
     ("self",)),
    ("paddle", "accumulation lost", "unfold", {"self": normal(5)}, LINE, ("self",)),
    ("paddle", "batch", "linalg_eigvalsh", {"self": values(np.diag([1.0, 2.0, 4.0]) + np.ones((2, 3, 3)))}, {}, ("self",)),
    ("paddle", "division by zero", "prod", {"self": values([0.0, 2.0, 3.0])}, {}, ("self",)),
]


@pytest.fixture(scope="module")
def pairs(environment_of, tmp_path_factory):
    """Candidate -> torch against it."""
    opened: dict[str, Pair] = {}

    def ask(candidate: str) -> Pair:
        environment_of("torch"), environment_of(candidate)
        if candidate not in opened:
            folder = tmp_path_factory.mktemp("causes")
            opened[candidate] = Pair(open_side("torch", folder), open_side(candidate, folder), folder, 20.0)
        return opened[candidate]

    yield ask
    for pair in opened.values():
        pair.stop()


@pytest.mark.parametrize("candidate, cause, op, feeds, args, wrt", BUGS, ids=[f"{bug[0]}-{bug[2]}" for bug in BUGS])
def test_the_cause_of_a_real_bug_is_named(candidate, cause, op, feeds, args, wrt, pairs) -> None:
    pair = pairs(candidate)
    node = Node(op, {**{name: Ref(name) for name in feeds}, **args}, ("out",))
    graph = Graph(tuple(feeds), (node,), ("out",))
    case = Case(graph, feeds, "torch", candidate)
    if wrt:
        made = pair.run(case, pair.reference).values["out"]
        node = gradient(node, (Ref("grad_out"),), wrt)
        fed = {**feeds, "grad_out": normal(*made.shape, seed=7)}
        case = Case(Graph(node.inputs, (node,), node.outputs), fed, "torch", candidate, "backward")
    comparison, left, right = pair.compare(case)
    assert comparison.divergence is not None, comparison
    named = diagnose(Scene(pair, case, left, right, comparison.divergence))
    assert (named.cause, named.side) == (cause, "candidate") and all(probe.confirmed for probe in named.probes), named
