"""Where a gradient of a spectrum is not unique, and where it is."""

from __future__ import annotations

import numpy as np
import pytest

from minrepro.compare.freedom import merged
from minrepro.compare.verdict import Question, judge
from minrepro.ir.graph import Node, Ref
from minrepro.ir.outcome import Completed
from minrepro.ir.tensor import Tensor
from minrepro.ops.gradient import gradient


def step(op: str, param: str) -> Node:
    return gradient(Node(op, {param: Ref("x")}, ("y",)), (Ref("dy"),), ("x",))


def feeds(*diagonal: float, dtype: str = "float32") -> dict[str, Tensor]:
    return {"x": Tensor(np.diag(np.array(diagonal, dtype)), dtype)}


@pytest.mark.parametrize("op, param", [("linalg_eigh", "self"), ("linalg_eigvalsh", "self"), ("_linalg_eigh", "A")])
def test_eigenvalues_that_coincide_have_no_gradient_of_their_own(op, param):
    node = step(op, param)
    assert merged(node, feeds(1.0, 2.0, 1.0)) and merged(node, feeds(0.0, 0.0))
    # A rounding apart is the same; a thousandth is not, and neither is a value and its negative.
    assert merged(node, feeds(1.0, 1.0 + 2.0**-22)) and not merged(node, feeds(1.0, 1.0 + 2.0**-22, dtype="float64"))
    assert not merged(node, feeds(1.0, 1.001)) and not merged(node, feeds(1.0, -1.0, 0.0)) and not merged(node, feeds(0.0))


def test_singular_values_are_sizes():
    node = step("linalg_svdvals", "A")
    assert merged(node, feeds(1.0, -1.0)) and merged(node, feeds(0.0, 1.0)) and not merged(node, feeds(1.0, 2.0))


def test_the_spectrum_itself_and_other_gradients_are_unique():
    assert not merged(Node("linalg_eigvalsh", {"self": Ref("x")}, ("y",)), feeds(1.0, 1.0))
    assert not merged(step("linalg_inv", "A"), feeds(1.0, 1.0))


def test_one_member_of_a_batch_is_enough():
    batch = Tensor(np.stack([np.diag([1.0, 2.0]), np.eye(2)]), "float64")
    assert merged(step("linalg_eigvalsh", "self"), {"x": batch})


@pytest.mark.parametrize("ambiguous, verdict", [(True, "same"), (False, "unresolved")])
def test_elements_of_an_ambiguous_gradient_are_not_compared(ambiguous, verdict):
    question = Question("iterative", 1, ("d_x",), merged=lambda: ambiguous)
    one, other = (Completed({"d_x": Tensor(np.diag(values), "float64")}) for values in ([1.0, 0.0], [0.0, 1.0]))
    assert judge(question, one, other).verdict == verdict
    nan = Completed({"d_x": Tensor(np.diag([np.nan, 0.0]), "float64")})
    assert judge(question, one, nan).verdict == "diverges"
