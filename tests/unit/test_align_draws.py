"""Draws of two models: matched by unit and distribution, then by distribution and shape, else left loose."""

from __future__ import annotations

import numpy as np

from minrepro.align.draws import Draws
from minrepro.align.language import LANGUAGES
from minrepro.ir.tensor import Tensor

LINE = ("model.py", 7)


def tensor(value: float) -> Tensor:
    return Tensor(np.full((2,), value, np.float32), "float32")


def made(*draws: tuple[tuple, str, float]) -> Draws:
    found = Draws()
    for stack, distribution, value in draws:
        found.made(stack, distribution, tensor(value), LINE)
    return found


def take(draws: Draws, stack, distribution, over=True, shape=(2,)):
    answer = draws.take("candidate", "candidate", stack, distribution, shape, LINE, over)
    return float(answer.values[0]) if isinstance(answer, Tensor) else answer


def test_the_same_unit_comes_first_whatever_the_order():
    draws = made((((1, 0),), "normal(0, 1)", 1.0), (((2, 0),), "normal(0, 1)", 2.0))
    assert take(draws, ((2, 0),), "normal(0, 1)") == 2.0
    assert take(draws, ((1, 0),), "normal(0, 1)") == 1.0
    assert not draws.untaken("candidate")


def test_another_unit_is_asked_only_when_the_reference_has_left():
    draws = made((((1, 0),), "normal(0, 1)", 1.0))
    assert take(draws, ((2, 0),), "normal(0, 1)", over=False) == "wait"
    assert take(draws, ((2, 0),), "normal(0, 1)") == 1.0


def test_another_distribution_or_shape_is_no_answer():
    draws = made((((1, 0),), "normal(0, 1)", 1.0))
    assert take(draws, ((1, 0),), "uniform(0, 1)") == "loose"
    assert take(draws, ((1, 0),), "normal(0, 1)", shape=(3,)) == "loose"
    assert [d.distribution for d in draws.loose["candidate"]] == ["uniform(0, 1)", "normal(0, 1)"]
    assert len(draws.untaken("candidate")) == 1


def test_without_injection_the_port_gets_nothing_and_the_reference_still_does():
    draws = Draws(injected=False)
    draws.made(((1, 0),), "normal(0, 1)", tensor(1.0), LINE)
    assert take(draws, ((1, 0),), "normal(0, 1)") == "loose"
    assert isinstance(draws.take("truth", "truth_1", ((1, 0),), "normal(0, 1)", (2,), LINE, True), Tensor)


def test_both_languages_have_all_words():
    assert set(LANGUAGES["en"]) == set(LANGUAGES["zh"])
