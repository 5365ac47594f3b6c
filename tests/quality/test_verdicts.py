"""The verdict keeps its figures on the labelled pairs, and no fixed tolerance does."""

from __future__ import annotations

import pytest

from minrepro.compare.policy import FORMATS, rounded

from . import verdicts


@pytest.fixture(scope="module")
def result():
    return verdicts.bench()


def test_there_are_enough_pairs_of_every_label(result) -> None:
    _, labels = result
    assert sum(labels.values()) >= 150 and min(labels.values()) >= 50, labels


def test_no_false_alarm_few_misses_and_policies_are_told_from_bugs(result) -> None:
    ours = result[0][0]
    assert ours.met(), (ours.false_alarms, ours.missed, ours.policies_called_bugs)


def test_every_fixed_tolerance_is_worse(result) -> None:
    ours, *others = result[0]
    for other in others:
        assert len(other.false_alarms) + len(other.missed) > len(ours.false_alarms) + len(ours.missed), other.criterion
        assert len(other.policies_called_bugs) > len(ours.policies_called_bugs), other.criterion


@pytest.mark.parametrize("to", FORMATS, ids=lambda to: to.name)
def test_rounding_to_a_format_is_to_nearest_even(to) -> None:
    import numpy as np

    step = 2.0 ** (1 - to.digits)
    values = np.array([1.0, 1 + step / 2, 1 + 1.5 * step, 1 + step / 2 + 2.0**-30, -1 - step / 2, 0.0])
    assert rounded(values, to).tolist() == [1.0, 1.0, 1 + 2 * step, 1 + step, -1.0, 0.0]
