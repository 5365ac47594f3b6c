"""The right side is blamed: torch is the reference and never the truth."""

from __future__ import annotations

import numpy as np
import pytest

from minrepro.compare.blame import blame
from minrepro.compare.pair import Pair, open_side
from minrepro.diagnose import Scene, diagnose
from minrepro.ir.case import Case
from minrepro.ir.graph import Graph, Node, Ref
from minrepro.ops.sample import values

TORCH_IS_WRONG = [
    ("paddle", "gelu", values([np.inf, 1.0]), "nonfinite", "infinity"),
    ("numpy", "gelu", values([np.inf, 1.0]), "nonfinite", "infinity"),
    ("numpy", "special_ndtr", values([-9.0], "float64"), "value", ""),
]


@pytest.fixture(scope="module")
def pairs(environment_of, tmp_path_factory):
    """Candidate -> torch against it."""
    opened: dict[str, Pair] = {}

    def ask(candidate: str) -> Pair:
        environment_of("torch"), environment_of(candidate)
        if candidate not in opened:
            folder = tmp_path_factory.mktemp("blame")
            opened[candidate] = Pair(open_side("torch", folder), open_side(candidate, folder), folder)
        return opened[candidate]

    yield ask
    for pair in opened.values():
        pair.stop()


@pytest.mark.parametrize(
    "candidate, op, value, symptom, cause", TORCH_IS_WRONG, ids=[f"{case[1]}-{case[0]}" for case in TORCH_IS_WRONG]
)
def test_torch_is_blamed_where_it_is_wrong(candidate, op, value, symptom, cause, pairs) -> None:
    pair = pairs(candidate)
    case = Case(Graph(("x",), (Node(op, {"self": Ref("x")}, ("out",)),), ("out",)), {"x": value}, "torch", candidate)
    comparison, left, right = pair.compare(case)
    found = comparison.divergence
    assert found is not None, comparison
    assert (found.symptom, found.side) == (symptom, "reference"), found.detail
    diagnosis = diagnose(Scene(pair, case, left, right, found))
    assert diagnosis.side == "reference" and (not cause or diagnosis.cause == cause), diagnosis


def _near(value: np.ndarray, truth: np.ndarray) -> bool:
    return bool(np.all(np.abs(value - truth) < 0.5))


ONE, TWO, THREE = np.array([1.0]), np.array([2.0]), np.array([3.0])


@pytest.mark.parametrize(
    "x, y, own, second, wide, side",
    [
        (ONE, TWO, ONE, ONE, TWO, "candidate"),
        (ONE, TWO, TWO, None, TWO, "reference"),  # its own float64 run says that the reference is off
        (ONE, TWO, ONE, TWO, TWO, "reference"),  # NumPy and the candidate's float64 run against the reference
        (ONE, TWO, ONE, None, TWO, "candidate"),  # two definitions: the reference's was asked for
        (ONE, TWO, ONE, None, None, "candidate"),
        (ONE, TWO, THREE, THREE, None, "both"),  # two float64 runs agree, and with neither side
        (ONE, TWO, THREE, None, ONE, "candidate"),
        (ONE, TWO, None, None, None, "unknown"),
    ],
)
def test_votes(x, y, own, second, wide, side) -> None:
    assert blame(x, y, own, second, lambda: wide, _near)[0] == side
