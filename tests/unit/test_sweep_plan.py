"""What a sweep plans, remembers and sums up."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from minrepro import ops
from minrepro.errors import UsageError
from minrepro.ir.divergence import Comparison, Divergence
from minrepro.ir.signature import Signature
from minrepro.sweep.journal import Journal, Record, name
from minrepro.sweep.lane import NO_KERNEL
from minrepro.sweep.plan import LAYOUTS, OWN, Item, case_of, leading, plan
from minrepro.sweep.report import as_json, coverage, groups

SOME = ("add", "conv2d", "index", "cat", "topk", "load_state_dict", "fft_fft", "embedding")


def test_every_sample_is_planned_once_as_it_is() -> None:
    given = [(item.op, item.sample) for item in plan(layouts=[OWN]) if item.given]
    assert sorted(given) == sorted((row.name, i) for row in ops.table().values() for i in range(len(row.samples)))


def test_no_item_is_planned_twice() -> None:
    items = list(plan(SOME))
    assert len(set(items)) == len(items) and {item.op for item in items} == set(SOME)


@pytest.mark.parametrize("wrong", [dict(names=["nonsense"]), dict(dtypes=["float8"]), dict(layouts=["round"])])
def test_what_there_is_not_is_named(wrong: dict) -> None:
    with pytest.raises(UsageError, match="found '(nonsense|float8|round)'"):
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


def test_the_name_of_an_answer_is_case_and_versions_and_text() -> None:
    case = case_of(Item("add", 0, "float32", OWN, True), "torch", "paddle")
    same = case_of(Item("add", 0, "float32", OWN, True), "torch", "paddle@/elsewhere")
    other = case_of(Item("add", 0, "float32", "transposed", False), "torch", "paddle")
    asked = name(case, {"paddle": "3"}, ["a", "b"])
    assert name(same, {"paddle": "3"}, ["a", "b"]) == asked
    others = {name(other, {"paddle": "3"}, ["a", "b"]), name(case, {"paddle": "4"}, ["a", "b"]),
              name(case, {"paddle": "3"}, ["a", "c"])}
    assert len(others | {asked}) == 4


def record(
    op: str, sample: int, dtype: str, layout: str, symptom: str = "", message: str = "", size: int = 6
) -> Record:
    """An answer, with a divergence if there is a symptom."""
    item = Item(op, sample, dtype, layout, True)
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


@pytest.mark.parametrize("text, missing", [
    ("The kernel with key (CPU, Undefined(AnyLayout), float16) of kernel `add` is not registered.", True),
    ("Cannot find the kernel matching Current OperatorConf.", True),
    ("Expected p_index[i] < index_dim_size, but received p_index[i]:2 >= index_dim_size:2.", False),
    ("Dimension out of range (expected to be in range of [-2, 1], but got 2)", False),
])
def test_a_missing_kernel_is_told_from_a_refusal(text: str, missing: bool) -> None:
    assert bool(NO_KERNEL.search(text)) == missing
