"""Gradient steps: their text, their class, what stands for a gradient that is not there, and how they stay whole."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from minrepro import ops
from minrepro.backends import table
from minrepro.backends.gradient import middle
from minrepro.backends.program import program
from minrepro.compare.missing import missing
from minrepro.errors import Unsupported
from minrepro.ir.case import Case
from minrepro.ir.dtype import DTYPES, to_float64
from minrepro.ir.graph import Graph, Node, Ref
from minrepro.ir.outcome import Completed, Raised
from minrepro.ir.tensor import Tensor, TensorSpec
from minrepro.localise.gradients import incoming_gradient
from minrepro.ops.gradient import forward, gradient, leaves
from minrepro.ops.row import Args, bind
from minrepro.shrink.incoming import Fitter, like
from minrepro.shrink.order import key


def ones(*shape: int, dtype: str = "float32") -> Tensor:
    return Tensor(np.ones(shape, dtype), dtype)


def softmax(*by: str) -> Node:
    return gradient(Node("softmax", {"self": Ref("x"), "dim": -1}, ("y",)), (Ref("dy"),), by or ("x",))


def linear(*by: str) -> Node:
    args = {"input": Ref("x"), "weight": Ref("w"), "bias": Ref("b")}
    return gradient(Node("linear", args, ("y",)), (Ref("dy"),), by)


def lines(node: Node, backend: str, **shapes: tuple[int, ...]) -> tuple[str, ...]:
    specs = {name: TensorSpec(shape, "float32") for name, shape in shapes.items()}
    return program(Graph(node.inputs, (node,), node.outputs), specs, table()[backend]).steps[0].lines


@pytest.mark.parametrize(
    "backend, mark",
    [("torch", "x.requires_grad_()"), ("paddle", "x.stop_gradient = False"), ("oneflow", "x.requires_grad_()")],
)
def test_the_text_marks_runs_sends_back_and_reads(backend, mark):
    text = lines(softmax(), backend, x=(2, 3), dy=(2, 3))
    assert text[0] == mark
    assert "softmax" in text[1] and text[1].startswith("y = ")
    assert text[2:] == ("y.backward(dy)", "d_x = x.grad")
    assert middle(softmax(), text) == text[1:2]


def twice(of: Node, *by: str) -> Node:
    pins = tuple(Ref(f"v{name[1:]}") for name in of.outputs)
    return gradient(of, pins, by)


@pytest.mark.parametrize(
    "backend, call",
    [
        ("torch", "g = torch.autograd.grad(y, x, dy, create_graph=True)[0]"),
        ("paddle", "g = paddle.grad(y, x, dy, create_graph=True)[0]"),
        ("oneflow", "g = flow.autograd.grad(y, x, dy, create_graph=True)[0]"),
    ],
)
def test_a_gradient_of_a_gradient_keeps_the_graph_of_the_first_order(backend, call):
    node = twice(softmax(), "x", "dy")
    text = lines(node, backend, x=(2, 3), dy=(2, 3), v_x=(2, 3))
    assert node.op == "grad:grad:softmax" and node.outputs == ("d_x", "d_dy")
    assert [line.split(".")[0] for line in text[:2]] == ["x", "dy"]
    assert text[3:] == (call, "g.backward(v_x)", "d_x = x.grad", "d_dy = dy.grad")
    assert middle(node, text) == text[2:3] and forward(forward(node)).op == "softmax"


def test_several_gradients_are_differentiated_together():
    shapes = {"x": (1, 2), "w": (3, 2), "b": (3,), "dy": (1, 3), "v_x": (1, 2), "v_w": (3, 2)}
    text = lines(twice(linear("x", "w"), "x", "w", "dy"), "torch", **shapes)
    assert "g, g2 = torch.autograd.grad(y, [x, w], dy, create_graph=True)" in text
    assert "torch.autograd.backward([g, g2], [v_x, v_w])" in text


def test_a_gradient_of_a_gradient_stays_whole_on_both_levels():
    asked = []

    def run(one: Case):
        asked.append(one.graph.nodes[0].op)
        return Completed({name: ones(1, 1) for name in one.graph.outputs})

    node = twice(linear("x", "w", "b"), "x", "w", "b", "dy")
    feeds = {"x": ones(1, 1), "w": ones(1, 1), "dy": ones(2, 2), "v_x": ones(1, 2), "v_w": ones(2, 2), "v_b": ones(2)}
    dropped = msgspec.structs.replace(node, args={**node.args, "bias": None})
    fitted = Fitter(run).fit(case(dropped, **feeds, b=ones(2)))
    step = fitted.graph.nodes[0]
    assert fitted.lint() is None and asked == ["linear", "grad:linear"]
    assert leaves(forward(step)) == ("x", "w") and leaves(step) == ("x", "w", "dy")
    assert {name: fed.shape for name, fed in fitted.feeds.items() if name[0] in "dv"} == dict.fromkeys(
        ("dy", "v_x", "v_w"), (1, 1)
    )
    assert Fitter(run).fit(fitted) is fitted


def test_a_leaf_that_is_written_to_is_copied():
    node = gradient(Node("relu_", {"self": Ref("x")}, ("y",)), (Ref("dy"),), ("x",))
    text = lines(node, "torch", x=(3,), dy=(3,))
    assert text[:2] == ("x.requires_grad_()", "h = x.clone()")
    assert text[-2:] == ("h.backward(dy)", "d_x = x.grad")
    assert all("h" in line for line in middle(node, text))


def test_what_stands_for_an_in_place_form_is_differentiated_without_its_write():
    node = gradient(Node("silu_", {"self": Ref("x")}, ("y",)), (Ref("dy"),), ("x",))
    text = lines(node, "paddle", x=(3,), dy=(3,))
    # Written into what silu has read, its gradient would be refused.
    assert text[1:-1] == ("h = x.clone()", "h = F.silu(h)", "h.backward(dy)")
    forward_ = Node("silu_", {"self": Ref("x")}, ("y",))
    assert lines(forward_, "paddle", x=(3,)) == ("paddle.assign(F.silu(x), output=x)",)


def test_a_number_that_is_read_out_of_a_leaf_has_no_gradient():
    args = {"self": Ref("x"), "value": Ref("v")}
    lines(gradient(Node("fill_", args, ("y",)), (Ref("dy"),), ("x",)), "paddle", x=(3,), v=(), dy=(3,))
    with pytest.raises(Unsupported, match="'fill_' takes a number there on Paddle"):
        lines(gradient(Node("fill_", args, ("y",)), (Ref("dy"),), ("x", "v")), "paddle", x=(3,), v=(), dy=(3,))


@pytest.mark.parametrize("index, call", [
    (-1, "F.embedding(i, w)"), (0, "F.embedding(i, w, padding_idx=0)"),
])
def test_the_padding_row_stays_without_a_gradient(index, call):
    args = {"weight": Ref("w"), "indices": Ref("i"), "padding_idx": index}
    look = Node("embedding", args, ("y",))
    assert lines(look, "paddle", w=(4, 2), i=(3,)) == ("y = F.embedding(i, w)",)
    assert lines(gradient(look, (Ref("dy"),), ("w",)), "paddle", w=(4, 2), i=(3,), dy=(3, 2))[1] == f"y = {call}"


def test_several_results_go_back_together_and_indices_do_not():
    chunks = Node("split", {"self": Ref("x"), "split_size": 1}, ("a", "b"))
    text = lines(gradient(chunks, (Ref("da"), Ref("db")), ("x",)), "paddle", x=(2,), da=(1,), db=(1,))
    assert text[-2] == "paddle.autograd.backward([y, y2], [da, db])"
    top = Node("max.dim", {"self": Ref("x"), "dim": 0}, ("values", "indices"))
    assert "y.backward(da)" in lines(gradient(top, (Ref("da"), None), ("x",)), "torch", x=(2,), da=())


def test_a_local_name_is_never_one_of_the_programs():
    node = gradient(Node("relu", {"self": Ref("y")}, ("z",)), (Ref("dy"),), ("y",))
    assert "y2.backward(dy)" in lines(node, "torch", y=(1,), dy=(1,))


def test_a_backend_without_gradients_says_so():
    with pytest.raises(Unsupported, match="no gradient of 'softmax' on NumPy"):
        lines(softmax(), "numpy", x=(2,), dy=(2,))


def test_a_gradient_of_nothing_that_is_known_has_no_row():
    assert ops.find("grad:no_such_operator") is None


@pytest.mark.parametrize("by, terms", [(("x",), 5), (("w",), 7), (("x", "w"), 7), (("b",), 21)])
def test_terms_are_counted_over_what_an_element_goes_into(by, terms):
    """Of (7, 3) @ (3, 5): 5 for the input, 7 for the weight; the bias counts the 3 of the product beside it as well."""
    shapes = {"x": (7, 3), "w": (5, 3), "b": (5,), "dy": (7, 5)}
    specs = {name: TensorSpec(shape, "float32") for name, shape in shapes.items()}
    node, row = linear(*by), ops.find("grad:linear")
    assert row.length(Args(bind(row, node.args, specs))) == terms


def test_no_gradient_is_as_good_as_zeros_and_nothing_else():
    zeros, some, none = (Completed(values) for values in ({"d": Tensor(np.zeros(2), "float64")}, {"d": ones(2)}, {}))
    assert missing("d", some, some) is None
    assert missing("d", none, none).verdict == missing("d", zeros, none).verdict == "same"
    lost, gained = missing("d", some, none), missing("d", none, some)
    assert (lost.verdict, lost.divergence.symptom) == ("diverges", "structure")
    assert (lost.divergence.reference, lost.divergence.candidate) == ("a gradient", "no gradient")
    assert (gained.divergence.reference, gained.divergence.candidate) == ("no gradient", "a gradient")


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "complex64"])
def test_incoming_gradients_are_exact_pinned_and_never_zero(dtype):
    made = incoming_gradient((4, 5), DTYPES[dtype], "0 y")
    values = to_float64(made.view, made.dtype)
    assert made.shape == (4, 5) and np.array_equal(values * 8, np.round(values * 8)) and np.all(values != 0)
    assert made == incoming_gradient((4, 5), DTYPES[dtype], "0 y") != incoming_gradient((4, 5), DTYPES[dtype], "1 y")


def test_an_incoming_gradient_is_cropped_or_repeated():
    start = Tensor(np.arange(6.0, dtype=np.float32).reshape(2, 3), "float32")
    assert like(start, TensorSpec((1, 2), "float32")).view.tolist() == [[0, 1]]
    assert like(start, TensorSpec((2, 4), "float64")).view.tolist() == [[0, 1, 2, 3], [4, 5, 0, 1]]
    assert like(start, start.spec) is start


def case(node: Node, **feeds: Tensor) -> Case:
    return Case(Graph(tuple(feeds), (node,), node.outputs), feeds, "torch", "paddle", "backward")


def result(made: Tensor):
    """A reference that answers with one result, and counts."""
    asked = []

    def run(asked_case: Case):
        asked.append(asked_case)
        return Completed({asked_case.graph.outputs[0]: made})

    return run, asked


def test_sizes_of_the_incoming_gradient_follow_the_result():
    run, asked = result(ones(1, 3))
    fitter = Fitter(run)
    fitted = fitter.fit(case(softmax(), x=ones(1, 3), dy=ones(2, 3)))
    assert fitted.feeds["dy"].shape == (1, 3) and fitted.lint() is None
    assert fitter.fit(fitted) is fitted
    assert len(asked) == 1 and asked[0].graph.nodes[0].op == "softmax"


def test_leaves_that_the_step_does_not_read_any_more_go_with_their_gradients():
    run, _ = result(ones(1, 1))
    node = linear("x", "w", "b")
    dropped = msgspec.structs.replace(node, args={**node.args, "bias": None})
    fitted = Fitter(run).fit(case(dropped, x=ones(1, 1), w=ones(1, 1), b=ones(1), dy=ones(1, 1)))
    assert leaves(fitted.graph.nodes[0]) == ("x", "w")
    assert fitted.graph.outputs == ("d_x", "d_w") and set(fitted.feeds) == {"x", "w", "dy"}


def test_a_step_that_is_left_with_nothing_to_differentiate_by_is_malformed():
    run, _ = result(ones(1, 1))
    node = gradient(forward(linear("x", "w", "b")), (Ref("dy"),), ("b",))
    dropped = msgspec.structs.replace(node, args={**node.args, "bias": None})
    fitted = Fitter(run).fit(case(dropped, x=ones(1, 1), w=ones(1, 1), b=ones(1), dy=ones(1, 1)))
    assert fitted.lint() == "a step of grad:linear defines no value"


def test_a_variant_that_the_reference_refuses_stays_as_it_is():
    asked = []
    fitter = Fitter(lambda variant: asked.append(variant) or Raised("RuntimeError", "no"))
    variant = case(softmax(), x=ones(1, 3), dy=ones(2, 3))
    assert fitter.fit(variant) is variant and fitter.fit(variant) is variant
    assert len(asked) == 1


def test_steps_that_are_no_gradients_are_left_alone():
    plain = case(Node("softmax", {"self": Ref("x"), "dim": -1}, ("y",)), x=ones(3))
    assert Fitter(lambda variant: pytest.fail("asked")).fit(plain) is plain
    assert forward(softmax()).op == "softmax"


def test_fewer_leaves_are_simpler_and_the_incoming_gradient_has_no_size_of_its_own():
    both = case(linear("x", "w", "b"), x=ones(1, 1), w=ones(1, 1), b=ones(1), dy=ones(1, 1))
    one = msgspec.structs.replace(both, graph=Graph(both.graph.inputs, (linear("b"),), ("d_b",)))
    wide = msgspec.structs.replace(both, feeds={**both.feeds, "dy": ones(4, 4)})
    assert key(one) < key(both) == key(wide)
