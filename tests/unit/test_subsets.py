"""The generic searches on cases small enough to follow by hand."""

from __future__ import annotations

import pytest

from minrepro.localise.subsets import essential, smallest


def test_nothing_is_essential_where_the_empty_list_works():
    asked = []
    assert essential("abcdef", lambda some: not asked.append(some)) == []
    assert asked == [[]]


def test_no_atoms_no_questions():
    assert essential([], lambda some: pytest.fail("asked")) == []


def test_equal_atoms_keep_their_places():
    assert essential(["x", "y", "x"], lambda some: some.count("x") == 2) == ["x", "x"]


def test_a_set_that_only_works_whole_stays_whole():
    assert essential("abc", lambda some: len(some) == 3) == list("abc")


def test_atoms_that_disturb_each_other_end_in_a_set_that_works():
    works = {(), ("a", "b"), ("a", "b", "c")} - {()}
    assert tuple(essential("abc", lambda some: tuple(some) in works)) == ("a", "b")


def test_early_atoms_are_kept_where_either_would_do():
    assert essential(["cheap", "dear"], lambda some: bool(some)) == ["cheap"]


@pytest.mark.parametrize("low, high, least", [(1, 1, 1), (1, 9, 9), (1, 9, 1), (0, 5, 0), (2, 3, 3)])
def test_the_ends_of_the_range(low, high, least):
    assert smallest(low, high, lambda size: size >= least) == least


def test_the_size_that_is_known_to_work_is_not_asked():
    asked = []
    assert smallest(1, 4, lambda size: bool(asked.append(size))) == 4
    assert 4 not in asked
