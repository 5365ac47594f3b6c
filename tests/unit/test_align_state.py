"""What two arrays have to do with each other, and nested values on their way through a seam."""

from __future__ import annotations

import importlib.util
from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

INSIDE = Path(__file__).resolve().parents[2] / "minrepro/align/inside"


def load(name: str):
    """A worker-side file that needs no framework."""
    spec = importlib.util.spec_from_file_location(name, INSIDE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


state, trees = load("state"), load("trees")
A = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize("due, value, turned, word", [
    (A, A.copy(), False, "equal"),
    (A, A.T.copy(), True, "turned as due"),
    (A, A.copy(), True, "not transposed"),
    (A, A.T.copy(), False, "transposed"),
    (A.T, A.reshape(3, 2), False, "in memory order"),
    (A, A.reshape(3, 2), False, "reshaped"),
    (A, A[::-1].copy(), False, "permuted"),
    (A, A.astype(np.float16), False, "cast"),
    (A, A + 1, False, "with other values"),
    (A, A * np.nan, False, "with values that are not finite"),
])
def test_a_relation_is_named(due, value, turned, word):
    assert state.relation(due, value, turned) == word


def test_what_was_stored_is_compared_in_the_order_of_the_memory_that_was_given():
    given = A.T  # Fortran order
    stored = given.ravel(order="K").reshape(3, 2)
    assert state.relation(given, stored, False, given.strides) == "in memory order"


def test_exchanged_entries_are_named():
    assert state.twin(A, {"q": A, "k": A + 5}, A + 5, False) == "k"
    assert state.twin(A, {"q": A}, A + 5, False) == ""


Pair = namedtuple("Pair", "x y")
values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.just(A),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    | st.tuples(inner, inner) | st.builds(Pair, inner, inner),
    max_leaves=8,
)


def is_leaf(value) -> bool:
    return isinstance(value, np.ndarray)


@given(values)
def test_every_leaf_is_met_once_and_in_the_same_order(value):
    met = []
    trees.mapped(value, is_leaf, lambda leaf: met.append(leaf) or leaf)
    assert len(met) == len(trees.leaves(value, is_leaf))


@given(values)
def test_containers_keep_their_type(value):
    made = trees.mapped(value, is_leaf, lambda leaf: leaf)
    assert type(made) is type(value)
    assert repr(made) == repr(value)


@given(values)
def test_what_was_written_down_is_read_back(value):
    leaves = []

    def take(leaf):
        leaves.append(leaf)
        return len(leaves) - 1

    again = trees.read(trees.written(value, is_leaf, take), lambda where: leaves[where])
    plain = trees.mapped(value, is_leaf, lambda leaf: leaf)
    assert repr(again).replace("Pair(x=", "(").replace("y=", "") == repr(plain).replace("Pair(x=", "(").replace("y=", "")


B = np.arange(24.0).reshape(6, 4)


@pytest.mark.parametrize(("value", "told"), [
    (A, [("a", False, None, 0, 0)]),
    (A.T, [("a", True, None, 0, 0)]),
    (B[2:5], [("b", False, 0, 0, 2)]),
    (B[2:5].T, [("b", True, 1, 0, 2)]),
    (np.concatenate([B[4:], B[:4]])[:3], []),
    (B[2:5] + 1, []),
    (np.concatenate([A, -A]), [("a", False, 0, 0, 0), ("n", False, 0, len(A), 0)]),
    (np.concatenate([A.T, -A.T], 1), [("a", True, 1, 0, 0), ("n", True, 1, len(A), 0)]),
])
def test_where_values_come_from_is_known(value, told):
    ways = state.origin(value, {"a": A, "n": -A, "b": B})
    found = [tuple(piece[name] for name in ("source", "turned", "axis", "at", "start")) for way in ways for piece in way]
    assert found == told


def test_values_that_stand_in_several_places_are_told_with_all_of_them():
    assert [way[0]["source"] for way in state.origin(A, {"one": A, "copy": A.copy(), "b": B})] == ["one", "copy"]
    assert state.origin(np.zeros(4), {f"bias{i}": np.zeros(4) for i in range(state.ALIKE + 1)}) == []
