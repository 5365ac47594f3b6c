"""Two native models, seam by seam: clean pairs stay clean, and a planted mistake is named with its unit and its line.

A sample of ``tests/ports``; all of them, over several seeds, are run by ``python -m tests.ports``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache

import pytest

from minrepro.align.verdict import EXIT, verdict
from tests.ports.__main__ import right
from tests.ports.mistakes import table
from tests.ports.planted import GUILTY, Ground

CLEAN = [
    *((name, model) for name in ("paddle", "oneflow") for model in ("mixer_tiny", "vit_tiny", "bert_tiny", "resnet_tiny")),
    ("paddle", "mar_tiny"),
]
SAMPLE = (
    "q_and_k_swapped", "residual_dropped", "pools_last_token", "mask_inverted", "momentum_as_in_torch",
    "square_weight_not_turned", "condition_overwritten", "mean_over_channels_raises",
)
"""One of every kind: a wrong value inside a unit, at its end, behind a view, under a huge fill; a setting; the
converter; a write to an input; an exception."""
MISTAKES = {mistake.name: mistake for mistake in table()}


@pytest.fixture(scope="module")
def ground(environment_of, tmp_path_factory) -> Iterator:
    """Framework -> both workers, shared by the module."""
    opened: list[Ground] = []

    @cache
    def ask(framework: str) -> Ground:
        for name in ("torch", framework):
            environment_of(name)
        if f"MINREPRO_TEST_{framework.upper()}" in os.environ:
            pytest.skip("the mistakes are planted for the version that is supported")
        opened.append(Ground(framework, tmp_path_factory.mktemp(framework)))
        return opened[-1]

    yield ask
    for one in opened:
        one.stop()


@pytest.mark.parametrize(("framework", "model"), CLEAN)
def test_a_right_port_is_clean(ground, framework, model):
    found = ground(framework).align(model)
    assert not [(row.unit, row.note) for row in found.rows if row.verdict in GUILTY]
    assert not [entry for entry in found.entries if entry.blame]
    assert verdict(found) in ("clean", "arithmetic") and EXIT[verdict(found)] == 0
    assert found.seams > 20 and sum(row.calls > 0 for row in found.rows) > 10


@pytest.mark.parametrize("name", SAMPLE)
def test_a_mistake_is_named_with_its_unit_and_line(ground, name):
    mistake = MISTAKES[name]
    outcome = ground(mistake.framework).plant(mistake, seed=0)
    assert right(outcome), outcome
    assert not outcome.strays, outcome
