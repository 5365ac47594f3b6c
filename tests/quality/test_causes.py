"""Each cause names its planted fault and stays silent on all others."""

from __future__ import annotations

import pytest

from minrepro import registry

from . import causes
from .planted import table


@pytest.fixture(scope="module")
def pair(environment_of, tmp_path_factory):
    environment_of("torch")
    opened = causes.open_pair(tmp_path_factory.mktemp("causes"))
    yield opened
    opened.stop()


@pytest.mark.parametrize("planted", table(), ids=lambda planted: planted.file)
def test_the_planted_cause_is_named_and_no_other(planted, pair) -> None:
    result = causes.examine(planted, pair)
    assert result.right, (
        f"planted {result.cause!r}, named {result.named!r}, confirmed {result.confirmed}, {result.side}"
    )


def test_every_rule_has_a_planted_fault() -> None:
    rules = {module.CAUSE for module in registry.modules("minrepro.diagnose.rules")}
    assert rules == {planted.cause for planted in table()} - {"unexplained"}
