"""The generic searches against brute force, with predicates that are monotone and with predicates that are not."""

from __future__ import annotations

import itertools
import math

from hypothesis import given
from hypothesis import strategies as st

from minrepro.localise.subsets import essential, smallest


def counted(works):
    """The predicate, and how often it was asked."""
    calls = []

    def ask(argument):
        calls.append(argument)
        return works(argument)

    return ask, calls


@given(st.integers(0, 12), st.data())
def test_the_one_cause_is_found_exactly(count, data):
    atoms = list(range(count))
    cause = set(data.draw(st.lists(st.sampled_from(atoms), unique=True))) if atoms else set()
    assert essential(atoms, lambda some: cause <= set(some)) == sorted(cause)


@given(st.integers(1, 10), st.data())
def test_one_of_several_causes_is_found_and_nothing_in_it_is_superfluous(count, data):
    atoms = list(range(count))
    causes = data.draw(st.lists(st.sets(st.sampled_from(atoms), min_size=1), min_size=1, max_size=4))

    def works(some):
        return any(cause <= set(some) for cause in causes)

    found = essential(atoms, works)
    minimal = [set(s) for n in range(count + 1) for s in itertools.combinations(atoms, n) if works(s)]
    minimal = [s for s in minimal if not any(other < s for other in minimal)]
    assert set(found) in minimal
    assert found == sorted(found)


@given(st.integers(1, 7), st.data())
def test_a_predicate_without_any_order_still_gives_something_that_works(count, data):
    atoms = list(range(count))
    answers = {s: data.draw(st.booleans()) for n in range(count) for s in itertools.combinations(atoms, n)}
    answers[tuple(atoms)] = True
    found = essential(atoms, lambda some: answers[tuple(some)])
    assert answers[tuple(found)]


@given(st.integers(2, 300), st.integers(1, 3), st.randoms(use_true_random=False))
def test_few_causes_take_few_questions(count, causes, random):
    atoms = list(range(count))
    cause = set(random.sample(atoms, min(causes, count)))
    ask, calls = counted(lambda some: cause <= set(some))
    essential(atoms, ask)
    # QuickXplain's bound, and one question for "nothing at all" and one for the result.
    assert len(calls) <= 2 * len(cause) * (math.log2(count / len(cause)) + 2) + 2


@given(st.integers(0, 40), st.integers(0, 2000), st.integers(0, 2000))
def test_a_threshold_is_found_exactly(low, threshold, more):
    threshold = low + threshold
    ask, calls = counted(lambda size: size >= threshold)
    assert smallest(low, threshold + more, ask) == threshold
    assert len(calls) <= 2 * math.log2(threshold - low + 1) + math.log2(more + 1) + 24


@given(st.integers(0, 5), st.integers(1, 200), st.sets(st.integers(0, 205)))
def test_any_predicate_gives_a_size_that_works_and_whose_predecessor_does_not(low, more, sizes):
    high = low + more
    sizes = sizes | {high}
    found = smallest(low, high, sizes.__contains__)
    assert low <= found <= high and found in sizes
    assert found == low or found - 1 not in sizes


@given(st.integers(3, 12), st.integers(1, 6))
def test_sizes_next_to_powers_of_two_are_tried_where_galloping_jumps_over_them(exponent, more):
    target = 2**exponent + 1
    assert smallest(1, target + 2**more, {target, target + 2**more}.__contains__) == target
