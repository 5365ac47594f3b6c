"""Sizes that move together: what a dim rule says can be run at any size, and guesses stay within the case."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minrepro import backends, ops
from minrepro.backends.program import program
from minrepro.ir.case import Case
from minrepro.ir.dtype import from_float64
from minrepro.ir.graph import Graph, Node, Ref
from minrepro.ir.tensor import Tensor
from minrepro.shrink.coupling import apply, couplings


def case_of(op: str, sizes: dict[str, tuple[int, ...]], **constants: object) -> Case:
    """One step on random tensors of the given shapes."""
    feeds = {name: Tensor(np.random.RandomState(0).standard_normal(shape), "float64") for name, shape in sizes.items()}
    node = Node(op, {**{name: Ref(name) for name in sizes}, **constants}, ("out",))
    return Case(Graph(tuple(sizes), (node,), ("out",)), feeds, "torch", "torch")


def groups(case: Case) -> dict[str, set[tuple[str, int]]]:
    """The axes of each class of the rule."""
    return {group.name: set(group.axes) for group in couplings(case)[0]}


def run_numpy(case: Case) -> np.ndarray:
    """The step's NumPy spelling on the feeds."""
    backend = backends.table()["numpy"]
    text = program(case.graph, {name: tensor.spec for name, tensor in case.feeds.items()}, backend)
    names = {"np": np, **{feed.variable: case.feeds[feed.value].view.copy() for feed in text.feeds}}
    for step in text.steps:
        exec("\n".join(step.lines), names)  # noqa: S102 - our own spelling
    return names[text.variables["out"]]


def test_linear_couples_its_inner_and_its_outer_size():
    case = case_of("linear", {"input": (4, 5, 6), "weight": (7, 6), "bias": (7,)})
    found = groups(case)
    assert {("input", 2), ("weight", 1)} in found.values()
    assert {("weight", 0), ("bias", 0)} in found.values()
    assert {("input", 0)} in found.values() and {("input", 1)} in found.values()


def test_layer_norm_couples_its_argument():
    case = case_of("layer_norm", {"input": (2, 3, 4), "weight": (3, 4), "bias": (3, 4)}, normalized_shape=(3, 4))
    last = next(group for group in couplings(case)[0] if ("input", 2) in group.axes)
    assert set(last.axes) == {("input", 2), ("weight", 1), ("bias", 1)}
    assert last.attrs == ((0, "normalized_shape", 1),)
    shapes, nodes = apply(case, {last: 1})
    assert shapes == {"input": (2, 3, 1), "weight": (3, 1), "bias": (3, 1)}
    assert nodes[0].args["normalized_shape"] == (3, 1)


def test_broadcast_couples_axes_from_the_right_and_leaves_size_1_alone():
    found = groups(case_of("add", {"self": (2, 1, 5), "other": (3, 5)}))
    assert {("self", 2), ("other", 1)} in found.values()
    assert {("other", 0)} in found.values() and {("self", 0)} in found.values()
    assert ("self", 1) not in set().union(*found.values())


def test_a_rule_that_does_not_fit_is_not_used():
    case = case_of("linear", {"input": (4, 5), "weight": (7, 6)})
    assert all(group.name.startswith(("size", "input", "weight")) for group in couplings(case)[0])


def test_without_a_rule_equal_sizes_are_guessed_first_and_single_axes_after():
    case = case_of("cat", {"a": (2, 3), "b": (2, 3)}, dim=0)
    case.graph.nodes[0].args["tensors"] = (Ref("a"), Ref("b"))
    by_size, free, *_ = couplings(case)
    assert {frozenset(group.axes) for group in by_size} == {
        frozenset({("a", 0), ("b", 0)}), frozenset({("a", 1), ("b", 1)}),
    }
    assert sorted(axis for group in free for axis in group.axes) == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]


RULED = {
    "linear": ({"input": (4, 5, 6), "weight": (7, 6), "bias": (7,)}, {}),
    "matmul": ({"self": (2, 3, 4, 5), "other": (2, 3, 5, 6)}, {}),
    "bmm": ({"self": (2, 4, 5), "mat2": (2, 5, 6)}, {}),
    "layer_norm": ({"input": (2, 5, 3, 4), "weight": (3, 4)}, {"normalized_shape": (3, 4), "bias": None, "eps": 1e-5}),
    "add": ({"self": (2, 3, 5), "other": (3, 5)}, {"alpha": 1}),
    "mul": ({"self": (2, 3, 5), "other": (2, 3, 5)}, {}),
}


@settings(max_examples=40, deadline=None)
@pytest.mark.parametrize("op", RULED)
@given(data=st.data())
def test_a_rule_holds_at_any_size(op, data):
    shapes, constants = RULED[op]
    case = case_of(op, shapes, **constants)
    assert ops.find(op).dims, "the rule is what is tested here"
    sizes = {group: data.draw(st.integers(1, group.size), group.name) for group in couplings(case)[0]}
    made, nodes = apply(case, sizes)
    feeds = {name: Tensor(from_float64(np.ones(shape), case.feeds[name].dtype)) for name, shape in made.items()}
    smaller = Case(Graph(tuple(made), nodes, ("out",)), feeds, "torch", "torch")
    assert run_numpy(smaller).ndim == run_numpy(case).ndim


@given(st.lists(st.lists(st.integers(1, 5), max_size=3).map(tuple), min_size=1, max_size=3), st.data())
def test_every_guess_stays_within_the_case(shapes, data):
    case = case_of("add", {f"x{number}": shape for number, shape in enumerate(shapes)})
    for classes in couplings(case):
        axes = [axis for group in classes for axis in group.axes]
        assert len(axes) == len(set(axes))
        for group in classes:
            assert {case.feeds[name].shape[axis] for name, axis in group.axes} == {group.size}
        sizes = {group: data.draw(st.integers(1, group.size)) for group in classes}
        made, _ = apply(case, sizes)
        for group, size in sizes.items():
            assert all(made[name][axis] == size for name, axis in group.axes)
        untouched = {(name, axis) for name in made for axis in range(len(made[name]))} - set(axes)
        assert all(made[name][axis] == case.feeds[name].shape[axis] for name, axis in untouched)
