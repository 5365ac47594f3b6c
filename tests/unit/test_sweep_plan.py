"""What a sweep plans, remembers and sums up."""

from __future__ import annotations

import json

import msgspec
import numpy as np
import pytest

from minrepro import ops
from minrepro.errors import UsageError
from minrepro.ir.codec import decode, encode, plain
from minrepro.ir.divergence import Comparison, Divergence
from minrepro.ir.graph import Ref, refs
from minrepro.ir.outcome import Completed, Raised
from minrepro.ir.reduction import Diagnosis
from minrepro.ir.signature import Signature
from minrepro.ir.tensor import Tensor
from minrepro.localise.gradients import label
from minrepro.ops.gradient import leaves
from minrepro.sweep.backward import Nothing, Pinned, Ready, Result, opened, ready, without
from minrepro.sweep.journal import Journal, Record, name
from minrepro.sweep.lane import lacks
from minrepro.sweep.plan import LAYOUTS, OWN, Item, case_of, leading, plan
from minrepro.sweep.report import as_json, as_table, column, coverage, groups, known, known_line, line

SOME = ("add", "conv2d", "index", "cat", "topk", "load_state_dict", "fft_fft", "embedding")


def test_every_sample_is_planned_once_as_it_is() -> None:
    given = [(item.op, item.sample) for item in plan(layouts=[OWN]) if item.given]
    assert sorted(given) == sorted((row.name, i) for row in ops.table().values() for i in range(len(row.samples)))


def test_no_item_is_planned_twice() -> None:
    items = list(plan(SOME))
    assert len(set(items)) == len(items) and {item.op for item in items} == set(SOME)


def test_backward_is_asked_for_and_differentiates_what_is_floating_point() -> None:
    assert {item.mode for item in plan(SOME)} == {"forward"}
    both, back = list(plan(SOME, modes=["forward", "backward"])), list(plan(SOME, modes=["backward"]))
    assert both == [item for op in SOME for mode in ("forward", "backward") for item in plan([op], modes=[mode])]
    assert {item.op for item in back} == {"add", "conv2d", "index", "cat", "topk", "fft_fft", "embedding"}
    assert {item.dtype for item in plan(["add"], modes=["backward"])} == {"float32", "float64", "float16", "bfloat16"}
    # No gradient of a draw, of integers alone, or through what is not unique.
    assert not list(plan(["bernoulli", "arange", "linalg_qr", "linalg_matrix_rank"], dtypes=["int64"], modes=["backward"]))
    assert not list(plan(["bernoulli", "linalg_qr"], modes=["backward"]))


@pytest.mark.parametrize(
    "wrong", [dict(names=["nonsense"]), dict(dtypes=["float8"]), dict(layouts=["round"]), dict(modes=["sideways"])]
)
def test_what_there_is_not_is_named(wrong: dict) -> None:
    with pytest.raises(UsageError, match="found '(nonsense|float8|round|sideways)'"):
        list(plan(**wrong))


@pytest.mark.parametrize("layout", ["transposed", "stepped"])
@pytest.mark.parametrize("op", SOME)
def test_a_layout_changes_memory_and_no_value(op: str, layout: str) -> None:
    changed = 0
    for item in plan([op], layouts=[layout]):
        own = case_of(msgspec.structs.replace(item, layout=OWN), "torch", "torch")
        other = case_of(item, "torch", "torch")
        assert other.graph == own.graph and other.lint() is None
        for key, feed in own.feeds.items():
            assert np.array_equal(feed.view, other.feeds[key].view) and feed.dtype == other.feeds[key].dtype
            changed += feed.layout != other.feeds[key].layout
    assert changed or op == "fft_fft" and layout == "transposed"


def test_empty_takes_the_first_axis_of_all_that_share_it() -> None:
    case = LAYOUTS["empty"](case_of(Item("add", 0, "float32", OWN, True), "torch", "torch"))
    assert case is not None and next(iter(case.values())).shape[0] == 0


@pytest.mark.parametrize("kind", ["float64", "float16", "bfloat16", "int8", "bool", "complex64"])
def test_a_dtype_is_that_of_the_leading_tensors(kind: str) -> None:
    items = list(plan(SOME, dtypes=[kind], layouts=[OWN]))
    assert items
    for item in items:
        found = leading(case_of(item, "torch", "torch"))
        assert found is not None
        # A float that becomes an integer may leave a wider leading kind behind it: indices stay what they are.
        assert found.name == kind or kind in ("int8", "bool")


def test_integers_have_whole_factors() -> None:
    for op, names in (("addmm", ("alpha", "beta")), ("addcmul_", ("value",))):
        samples = range(len(ops.table()[op].samples))
        cases = [case_of(Item(op, n, "int64", OWN, False), "torch", "paddle") for n in samples]
        given = [case.graph.nodes[0].args.get(name, 1) for case in cases for name in names]
        assert all(value == int(value) for value in given) and any(value not in (0, 1) for value in given)
    assert case_of(Item("addmm", 1, "float64", OWN, False), "torch", "paddle").graph.nodes[0].args["alpha"] == 0.5


def test_the_name_of_an_answer_is_case_and_versions_and_text() -> None:
    case = case_of(Item("add", 0, "float32", OWN, True), "torch", "paddle")
    same = case_of(Item("add", 0, "float32", OWN, True), "torch", "paddle@/elsewhere")
    other = case_of(Item("add", 0, "float32", "transposed", False), "torch", "paddle")
    asked = name(case, {"paddle": "3"}, ["a", "b"])
    assert name(same, {"paddle": "3"}, ["a", "b"]) == asked
    others = {name(other, {"paddle": "3"}, ["a", "b"]), name(case, {"paddle": "4"}, ["a", "b"]),
              name(case, {"paddle": "3"}, ["a", "c"])}
    assert len(others | {asked}) == 4


def made(case, *values: np.ndarray) -> Completed:
    return Completed({key: Tensor(value) for key, value in zip(case.graph.outputs, values)})


def test_a_gradient_case_is_made_again_from_what_the_reference_said() -> None:
    item = Item("linear", 0, "float32", OWN, True, "backward")
    step = case_of(item, "torch", "paddle")
    shape = (*step.feeds["v_input"].shape[:-1], step.feeds["v_weight"].shape[0])
    asked = ready(step, lambda one: made(one, *(np.zeros(shape, "float32") for _ in one.graph.outputs)))
    assert isinstance(asked, Ready) and asked.case.mode == "backward" and asked.case.lint() is None
    assert asked.case.feeds["grad_out"].shape == shape
    again = case_of(item, "torch", "paddle", decode(encode(asked.pinned), Pinned))
    assert encode(again) == encode(asked.case)


def test_inputs_and_results_that_the_reference_does_not_differentiate_are_left_away() -> None:
    step = case_of(Item("native_layer_norm", 0, "float32", OWN, True, "backward"), "torch", "paddle")

    def run(one):
        node = one.graph.nodes[0]
        if node.op.startswith("grad:"):
            through = [ref.name for ref in refs(node.args["grad_outputs"])]
            if through != [f"grad_{step.graph.outputs[0]}"] or "v_weight" in leaves(node):
                return Raised("RuntimeError", "does not require grad")
        return made(one, *(np.zeros((2, 3), "float32") for _ in one.graph.outputs))

    asked = ready(step, run)
    assert isinstance(asked, Ready)
    assert [result.differentiated for result in asked.pinned.results] == [True, False, False]
    assert "v_weight" not in asked.pinned.leaves and "v_input" in asked.pinned.leaves
    nothing = ready(step, lambda one: made(one, *(np.zeros(3, "int64") for _ in one.graph.outputs)))
    assert isinstance(nothing, Nothing) and nothing.verdict == "none"


def test_only_the_target_of_a_loss_may_go_without_a_gradient() -> None:
    step = case_of(Item("kl_div", 0, "float32", OWN, True, "backward"), "torch", "paddle")
    lacking = Divergence("structure", "candidate", "d_v_target", (), "a gradient", "no gradient")
    assert label(opened(step), lacking) == "v_target"
    assert label(opened(step), msgspec.structs.replace(lacking, output="d_v_self")) is None
    assert label(opened(step), msgspec.structs.replace(lacking, symptom="value")) is None
    pinned = Pinned((Result((), "float32"),), ("v_self", "v_target"))
    fewer = without(step, pinned, "v_target", lambda one: made(one, np.zeros((2, 3), "float32")))
    assert isinstance(fewer, Ready) and fewer.pinned.leaves == ("v_self",)
    alone = without(step, Pinned(pinned.results, ("v_target",)), "v_target", lambda one: made(one))
    assert isinstance(alone, Nothing) and alone.verdict == "unsupported"


def test_a_gradient_is_pinned_where_it_is_unique() -> None:
    def pins(op: str, sample: int = 0):
        step = opened(case_of(Item(op, sample, "float32", OWN, True, "backward"), "torch", "torch"))
        given = step.graph.nodes[0].args["grad_outputs"]
        return [ref is not None for ref in given], leaves(step.graph.nodes[0]), step

    assert pins("linalg_svd")[0] == [False, True, False]
    assert pins("cholesky_solve")[1] == ("v_self",)
    shown, _, step = pins("linalg_eig")
    assert shown == [True, False] and Ref("grad_out0") in step.graph.nodes[0].args["grad_outputs"]
    # The order of the eigenvalues is free, so all of them get the same.
    assert len(np.unique(step.feeds["grad_out0"].view)) == 1


def record(
    op: str, sample: int, dtype: str, layout: str, symptom: str = "", message: str = "", size: int = 6,
    mode: str = "forward",
) -> Record:
    """An answer, with a divergence if there is a symptom."""
    item = Item(op, sample, dtype, layout, True, mode)
    if not symptom:
        return Record(repr(item), item, Comparison("same"), None, size)
    found = Divergence(symptom, "candidate", ratio=float("inf"), detail=f"{op} {sample}")
    who = Signature(symptom, "candidate", (op,), "ValueError" if message else "", message)
    return Record(repr(item), item, Comparison("diverges", float("inf"), found), who, size)


ANSWERS = [
    record("add", 0, "float32", OWN),
    record("add", 1, "float32", OWN, "value", size=9),
    record("add", 0, "float32", "transposed", "value"),
    record("add", 2, "float32", OWN, "exception", "expected N"),
    record("cat", 0, "float32", OWN, "value"),
]


def test_a_journal_reads_back_and_forgets_a_torn_line(tmp_path) -> None:
    path = tmp_path / "answers.jsonl"
    journal = Journal(path)
    for one in ANSWERS:
        journal.add(one)
    journal.close()
    path.write_text(path.read_text() + '{"key": "torn')
    again = Journal(path)
    assert list(again.known.values()) == ANSWERS
    again.add(record("cat", 1, "float32", OWN))
    again.close()
    assert len(Journal(path).known) == len(ANSWERS) + 1


def test_groups_are_by_operator_symptom_side_and_message() -> None:
    found = groups(ANSWERS)
    assert [(g.op, g.symptom, g.message, len(g.items)) for g in found] == [
        ("add", "exception", "ValueError: expected N", 1), ("add", "value", "", 2), ("cat", "value", "", 1),
    ]
    assert found[1].items[0].layout == "transposed" and found[1].layouts == (OWN, "transposed")
    assert len({g.digest for g in found}) == 3


def test_coverage_counts_verdicts_and_symptoms() -> None:
    assert coverage(ANSWERS, True)["add"] == {"same": 1, "value": 2, "exception": 1}
    whole = as_json(ANSWERS, groups(ANSWERS), {"candidate": "paddle"})
    assert whole["cases"] == 5 and whole["verdicts"] == {"same": 1, "value": 3, "exception": 1}
    assert sum(sum(row.values()) for row in whole["families"].values()) == 5


def test_what_is_documented_is_a_verdict_with_its_source_and_no_divergence(tmp_path) -> None:
    told = Diagnosis("convention: dtype of x", "neither", "int64 here, int32 there", (), (), "x.long()", "lib.x: 'int32'")
    legal = msgspec.structs.replace(record("argsort", 0, "float32", OWN, "dtype"), legal=told)
    other = record("argsort", 0, "float32", "transposed", "value")
    assert [column(one) for one in (legal, other)] == ["convention", "value"]
    assert [(g.symptom, len(g.items)) for g in groups([legal, other])] == [("value", 1)]
    assert coverage([legal, other], True)["argsort"] == {"convention": 1, "value": 1}
    (one,) = known([legal, other])
    assert (one.cause, one.ops, one.cases) == (told.cause, ("argsort",), 1)
    assert "x.long()" in known_line(one) and "lib.x" in known_line(one)
    assert as_json([legal], [], {})["known"] == [msgspec.to_builtins(one)]
    journal = Journal(tmp_path / "answers.jsonl")
    journal.add(legal)
    journal.close()
    assert list(Journal(tmp_path / "answers.jsonl").known.values()) == [legal]


def test_the_modes_have_groups_and_columns_of_their_own() -> None:
    pinned = Pinned((Result((2, 3), "float32"),), ("v_self", "v_other"))
    back = msgspec.structs.replace(record("add", 0, "float32", OWN, "value", mode="backward"), pinned=pinned)
    found = groups([back, *ANSWERS])
    assert [(g.step, g.symptom, len(g.items)) for g in found] == [
        ("add", "exception", 1), ("add", "value", 2), ("cat", "value", 1), ("grad:add", "value", 1),
    ]
    assert len({g.digest for g in found}) == 4 and found[-1].pinned == pinned and found[-1].slug == "grad-add-value"
    assert line(found[-1]).startswith("grad:add: value on the candidate side")
    whole = as_json([*ANSWERS, back], found, {})
    assert whole["verdicts"]["value"] == 3 and whole["backward"]["operators"] == {"add": {"value": 1}}
    assert [as_table([*ANSWERS, back], True, mode).row_count for mode in ("forward", "backward")] == [3, 2]


def test_an_answer_of_before_the_gradients_is_still_known(tmp_path) -> None:
    old = json.loads(json.dumps(plain(ANSWERS[0])))
    del old["item"]["mode"], old["pinned"]
    (tmp_path / "answers.jsonl").write_text(json.dumps(old) + "\n")
    assert list(Journal(tmp_path / "answers.jsonl").known.values()) == [ANSWERS[0]]
    case = case_of(ANSWERS[0].item, "torch", "torch")
    assert name(case, {}, ["a"]) == name(case, {}, ["a"], "forward") != name(case, {}, ["a"], "backward")


@pytest.mark.parametrize("text, missing", [
    ("The kernel with key (CPU, Undefined(AnyLayout), float16) of kernel `add` is not registered.", True),
    ("Cannot find the kernel matching Current OperatorConf.", True),
    ("The gradient function for op index_add is not found. Please check whether it has been implemented.", True),
    ("Expected p_index[i] < index_dim_size, but received p_index[i]:2 >= index_dim_size:2.", False),
    ("Unimplemented error. Invalid dimension to be accessed. Now only supports access to dimension 0 to 9, but received "
     "dimension is 744844386.", False),
    ("Dimension out of range (expected to be in range of [-2, 1], but got 2)", False),
])
def test_a_missing_kernel_is_told_from_a_refusal(text: str, missing: bool) -> None:
    assert lacks(text) == missing
