"""The total order of cases: what counts more, and that nothing small outweighs something large."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from minrepro.ir.case import Case
from minrepro.ir.dtype import dtype
from minrepro.ir.graph import Graph, Node, Ref
from minrepro.ir.tensor import CONTIGUOUS, Layout, Permute, Slice, Tensor
from minrepro.shrink.order import key, value_rank


def case_of(*tensors: Tensor, op: str = "gelu", steps: int = 1, **constants: object) -> Case:
    """So many steps in a row; the first reads all tensors."""
    names = tuple(f"x{number}" for number in range(len(tensors)))
    nodes = [Node(op, {**{f"a{i}": Ref(name) for i, name in enumerate(names)}, **constants}, ("y0",))]
    nodes += [Node(op, {"self": Ref(f"y{number - 1}")}, (f"y{number}",)) for number in range(1, steps)]
    return Case(Graph(names, tuple(nodes), (f"y{steps - 1}",)), dict(zip(names, tensors)), "torch", "torch")


def ones(*shape: int, of: str = "float32", layout: Layout = CONTIGUOUS) -> Tensor:
    return Tensor(np.ones(shape, of), of, layout)


def values(*items: float) -> Tensor:
    return Tensor(np.array(items, np.float32))


TURNED = Layout((Permute((1, 0)),))
SMALLER = {
    "fewer steps, though many more elements": (case_of(ones(50)), case_of(ones(1), steps=2)),
    "fewer tensors, though more elements": (case_of(ones(9)), case_of(ones(1), ones(1))),
    "fewer elements, though a higher rank": (case_of(ones(1, 1, 2)), case_of(ones(3))),
    "a smaller base under the same view": (
        case_of(ones(2)), case_of(Tensor(np.ones(3, np.float32), layout=Layout((Slice(0, 0, 2, 2, 3),)))),
    ),
    "a lower rank, though odd values": (case_of(values(0.1, 7.25)), case_of(ones(1, 2))),
    "a plainer dtype, though an argument": (case_of(ones(2), approximate="tanh"), case_of(ones(2, of="float64"))),
    "default arguments, though a layout": (
        case_of(ones(2, 2, layout=TURNED)), case_of(ones(2, 2), approximate="tanh"),
    ),
    "a straight layout, though odd values": (
        case_of(Tensor(np.array([[0.1, 7.25], [3.5, 1.75]], np.float32))), case_of(ones(2, 2, layout=TURNED)),
    ),
    "simpler values": (case_of(ones(3)), case_of(values(1, 2.5, 1))),
    "a smaller number in an argument": (case_of(ones(2), dim=1), case_of(ones(2), dim=7)),
}


@pytest.mark.parametrize("name", SMALLER)
def test_the_first_is_smaller(name):
    first, second = SMALLER[name]
    assert key(first) < key(second)


def test_fewer_threads_and_a_short_text_are_smaller():
    case = case_of(ones(1))
    assert key(case) < key(msgspec.structs.replace(case, threads=2))
    assert key(msgspec.structs.replace(case, terse=True)) < key(case)


def test_names_and_paths_do_not_count():
    case = case_of(ones(2))
    nodes = (msgspec.structs.replace(case.graph.nodes[0], path="blocks.0.fc", source="model.py:3"),)
    moved = msgspec.structs.replace(case, graph=msgspec.structs.replace(case.graph, nodes=nodes))
    assert key(moved) == key(case)


def test_values_from_simple_to_arbitrary():
    ranks = [
        value_rank(values(0, 0, 0)), value_rank(values(1, 1, 1)), value_rank(values(0, 1, 2)),
        value_rank(values(0, 0, 5)), value_rank(values(0, 4, 5)), value_rank(values(0.125, 4, 5)),
        value_rank(values(0.1234567, 4.7654321, 5)),
    ]
    assert ranks == sorted(ranks) and len(set(ranks)) == len(ranks)


def test_bfloat16_ones_are_ones():
    assert value_rank(values(1, 1).cast(dtype("bfloat16"))) == 1


def test_a_literal_of_many_numbers_is_never_simpler_than_one_of_few():
    many = Tensor(np.random.RandomState(0).standard_normal(5000).astype(np.float32))
    assert value_rank(many) > value_rank(Tensor(many.base[:4000].copy()))
