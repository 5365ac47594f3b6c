"""Programs without some of their steps, and faults that are named by their path."""

from __future__ import annotations

import pytest

from minrepro import replays
from minrepro.errors import UsageError
from minrepro.ir.graph import Graph, Node, Ref
from minrepro.localise.bypass import bypass


def step(op: str, out: str, *reads: str) -> Node:
    return Node(op, {f"a{number}": Ref(name) for number, name in enumerate(reads)}, (out,))


RESIDUAL = Graph(
    ("x", "w"),
    (
        step("gelu", "a", "x"), step("mm", "b", "a", "w"), step("gelu", "c", "b"), step("add", "d", "a", "c"),
        step("gelu", "e", "d"),
    ),
    ("e",),
)


def names(graph: Graph) -> list[str]:
    return [str(node) for node in graph.nodes]


def test_what_lies_between_is_handed_through_and_beside_a_residual_the_longer_way():
    short = bypass(RESIDUAL, {"a", "c", "e"})
    assert names(short) == ["%a = gelu(a0=%x)", "%c = gelu(a0=%a)", "%e = gelu(a0=%c)"]
    assert (short.inputs, short.outputs) == (("x",), ("e",))
    assert short.lint() is None


def test_the_other_way_can_be_chosen():
    short = bypass(RESIDUAL, {"a", "c", "e"}, {"d": 1})
    assert names(short)[-1] == "%e = gelu(a0=%a)"
    assert set(short.outputs) == {"c", "e"}


def test_where_nothing_flows_the_value_is_fed():
    short = bypass(RESIDUAL, {"c"})
    assert (short.inputs, short.outputs, names(short)) == (("b",), ("c",), ["%c = gelu(a0=%b)"])


def test_everything_kept_is_the_program_itself():
    assert bypass(RESIDUAL, {"a", "b", "c", "d", "e"}) == RESIDUAL


def test_nothing_kept_is_nothing():
    assert bypass(RESIDUAL, set()).nodes == ()


def test_a_fault_is_found_by_its_path(tmp_path):
    path = tmp_path / "wrong.py"
    path.write_text('"""Gelu is wrong."""\n\n\ndef install(backend):\n    pass\n')
    found = replays.find(str(path))
    assert (found.path, found.title) == (path.resolve(), "Gelu is wrong")


@pytest.mark.parametrize(
    "text, complaint", [("x = 1\n", "install"), ("def install(:\n", "Python"), (None, "unknown replay")]
)
def test_a_path_that_holds_no_fault_is_refused(tmp_path, text, complaint):
    path = tmp_path / "wrong.py"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError, match=complaint):
        replays.find(str(path))
