"""A few planted faults of every family end at the brute-forced minimum, within the budget, and as the bug they are.

``python -m tests.faults`` prints the table of all of them.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tests.faults import table
from tests.faults.brute import minima
from tests.faults.hunt import Ground, Row, hunt

CHOSEN = (
    "contiguous_strides", "gelu_beside_exception", "gelu_multiple_of_5", "layer_norm_ddof", "linear_half",
    "linear_then_gelu", "linear_weight_strides", "load_rows8", "max_pool2d_padding_zero", "relu_nan",
)
BUDGET = 70
"""Warm queries that the median reduction may take; none of these may take more."""


@pytest.fixture(scope="module")
def rows(python_of, tmp_path_factory) -> dict[str, Row]:
    """The chosen faults found and reduced; each model is captured once."""
    spec = f"torch@{python_of('torch')}"
    folder: Path = tmp_path_factory.mktemp("faults")
    found = {}
    faults = sorted((table()[name] for name in CHOSEN), key=lambda fault: fault.model)
    for model, group in itertools.groupby(faults, key=lambda fault: fault.model_path):
        ground = Ground(model, folder, torch=spec)
        try:
            for fault in group:
                found[fault.name] = hunt(fault, ground, folder / fault.name)
        finally:
            ground.stop()
    return found


@pytest.mark.parametrize("name", CHOSEN)
def test_a_planted_fault_ends_at_the_brute_forced_minimum(name, rows):
    row, known = rows[name], minima()[name]
    assert not row.error
    assert (row.nodes, row.elements) == (known.nodes, known.elements), row.summary


@pytest.mark.parametrize("name", CHOSEN)
def test_the_end_is_the_bug_that_was_planted(name, rows):
    assert not rows[name].slipped, rows[name].summary
    assert rows[name].ops == table()[name].ops


@pytest.mark.parametrize("name", CHOSEN)
def test_few_queries(name, rows):
    assert 0 < rows[name].warm <= BUDGET


def test_there_are_forty_faults_of_every_family_and_each_has_a_minimum():
    assert len(table()) >= 40
    assert {fault.family for fault in table().values()} >= {
        "size", "layout", "values", "formula", "dtype", "together", "failure", "beside", "load",
    }
    assert set(table()) == set(minima()), "run python -m tests.faults.brute"
