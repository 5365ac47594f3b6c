"""Where exactness is due: integers that float64 cannot hold, and a candidate with a precision of its own."""

from __future__ import annotations

import numpy as np

from minrepro.compare.verdict import Question, judge
from minrepro.ir.outcome import Completed
from minrepro.ir.tensor import Tensor

BIG = 2**60 + 1


def compare(a: np.ndarray, b: np.ndarray, **settings):
    question = Question("exact", 1, ("out",), **settings)
    return judge(question, *(Completed({"out": Tensor(item, item.dtype.name)}) for item in (a, b)))


def test_integers_that_float64_rounds_to_the_same_number_differ():
    found = compare(np.array([BIG, 5]), np.array([BIG - 1, 5]))
    assert found.verdict == "diverges"
    assert (found.divergence.reference, found.divergence.candidate) == (str(BIG), str(BIG - 1))
    assert (found.divergence.absolute, found.divergence.wrong) == (1.0, 1)


def test_integers_settle_who_is_wrong_exactly():
    second = {"out": np.array([BIG])}
    found = compare(np.array([BIG - 1]), np.array([BIG]), second=lambda: second)
    assert found.divergence.side == "reference"


def test_the_gap_of_unsigned_integers_does_not_wrap_around():
    assert compare(np.array([1], np.uint8), np.array([2], np.uint8)).divergence.absolute == 1.0


def test_booleans_differ():
    found = compare(np.array([True, False]), np.array([True, True]))
    assert (found.divergence.reference, found.divergence.candidate) == ("False", "True")


def test_a_wider_float_of_an_untyped_candidate_is_compared_by_value():
    narrow, wide = np.array([0.1], np.float32), np.array([np.float64(np.float32(0.1))])
    assert compare(narrow, wide).divergence.symptom == "dtype"
    assert compare(narrow, wide, typed=False).verdict == "same"
    assert compare(narrow, wide * 2, typed=False).verdict == "diverges"
