"""Every sample of every operator on every backend that spells it, against torch and the float64 references.

What differs is listed in ``known.toml`` with its reason: a bug, a missing kernel or a convention of that framework. An
entry that no longer fails is an error, so that a fix is noticed.
"""

from __future__ import annotations

import os
import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from minrepro import backends, ops
from minrepro.sweep.journal import Record
from minrepro.sweep.lane import MISSING
from minrepro.sweep.plan import OWN, plan
from minrepro.sweep.report import column
from minrepro.sweep.sweep import Sweep

FAMILIES = sorted(ops.table())
CANDIDATES = ("torch", "paddle", "oneflow")
KNOWN = tomllib.loads(Path(__file__).with_name("known.toml").read_text(encoding="utf-8"))["known"]


@pytest.fixture(scope="session")
def answers(python_of, tmp_path_factory):
    """Backend name -> operator -> sample number -> what torch and that backend made of the sample."""

    @cache
    def ask(name: str) -> dict[str, dict[int, Record]]:
        python_of("torch"), python_of(name)
        spec = {side: os.environ.get(f"MINREPRO_TEST_{side.upper()}", side) for side in ("torch", name)}
        sweep = Sweep(spec["torch"], spec[name], tmp_path_factory.mktemp(name))
        found: dict[str, dict[int, Record]] = defaultdict(dict)
        for record in sweep.run([item for item in plan(layouts=[OWN]) if item.given]):
            found[record.item.op][record.item.sample] = record
        return found

    return ask


def failed(record: Record) -> str:
    """What is wrong with an answer: a verdict or a symptom; empty if nothing is, or if the table itself refuses."""
    said = column(record)
    if said in ("same", "arithmetic") or (said == "unsupported" and not record.comparison.why.startswith(MISSING)):
        return ""
    return said


def due(name: str, op: str, number: int) -> str:
    """The symptom that ``known.toml`` lists for a sample; empty if it has none."""
    for entry in KNOWN:
        if (entry["backend"], entry["op"]) == (name, op) and (entry["samples"] == "all" or number in entry["samples"]):
            return entry["symptom"]
    return ""


@pytest.mark.parametrize("name", CANDIDATES)
@pytest.mark.parametrize("op", FAMILIES)
def test_samples_agree_with_torch(op: str, name: str, answers) -> None:
    row = ops.table()[op]
    assert row.samples, f"{op} has no sample"
    if not backends.table()["torch"].spells_op(row) or not backends.table()[name].spells_op(row):
        pytest.skip(f"{op} is not an operator of torch and {name}")
    found = answers(name)[op]
    assert sorted(found) == list(range(len(row.samples)))
    for number, record in found.items():
        said, listed = failed(record), due(name, op, number)
        divergence = record.comparison.divergence
        why = divergence.detail if divergence is not None else record.comparison.why
        assert said == listed, f"{op} sample {number} on {name}: {said or 'agrees'}, known.toml says {listed!r}: {why}"


@pytest.mark.parametrize("entry", KNOWN, ids=lambda entry: f"{entry['op']}-{entry['backend']}-{entry['samples']}")
def test_known_failures_are_of_this_table(entry: dict) -> None:
    row = ops.table()[entry["op"]]
    assert entry["samples"] == "all" or 0 <= min(entry["samples"]) <= max(entry["samples"]) < len(row.samples)
    assert backends.table()[entry["backend"]].spells_op(row)
    assert len(entry["why"].split()) >= 3, "a reason is a sentence"


def test_at_least_150_operators_on_each_framework() -> None:
    coverage = backends.coverage()
    for name in ("torch", "paddle", "oneflow"):
        spelled = sum(name in given for given in coverage.values())
        assert spelled >= 150, f"{name} spells {spelled} operators"
