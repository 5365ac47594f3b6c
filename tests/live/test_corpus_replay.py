"""The shipped corpus on the frameworks of this machine: every entry still shows its bug on the version it was found on."""

from __future__ import annotations

import pytest

from minrepro import corpus
from minrepro.emit.shipped import folder

PLACES = tuple(sorted(path.parent for path in folder("corpus").glob("*/*/entry.toml")))


@pytest.mark.parametrize("place", PLACES, ids=lambda place: f"{place.parent.name}-{place.name}")
def test_a_stored_bug_is_still_there(place, environment_of):
    entry = corpus.load(place)
    (row,) = corpus.replay([entry], lambda spec: environment_of(spec.name))
    assert not row.surprising and row.got != "cannot run", row
    if row.expected == "reproduced":
        assert row.got == "reproduced", row
