"""The planted mistakes fit the ports that they are planted in, and the code that finds lines finds them."""

from __future__ import annotations

from pathlib import Path

import pytest

from minrepro import zoo
from minrepro.align.inside import lines
from minrepro.align.slicing import definitions
from tests.ports.mistakes import Mistake, table


@pytest.mark.parametrize("mistake", table(), ids=lambda mistake: mistake.name)
def test_a_mistake_fits_its_port(mistake):
    file = zoo.ports(mistake.framework)[mistake.model][0]
    source = Path(file).read_text(encoding="utf-8")
    text, wrong = mistake.applied(source)
    compile(text, file, "exec")
    assert text != source and 1 <= len(wrong) <= 3 and wrong.stop <= text.count("\n") + 1


def test_the_table_is_spread_and_its_names_are_unique():
    assert len({mistake.name for mistake in table()}) == len(table()) >= 30
    for framework in ("paddle", "oneflow"):
        assert len({mistake.model for mistake in table() if mistake.framework == framework}) >= 4


@pytest.mark.parametrize("old", ["nothing like it", "a"])
def test_an_edit_without_one_place_is_refused(old):
    with pytest.raises(ValueError, match="expected"):
        Mistake("x", "vit_tiny", "paddle", old, "b", "").applied("a\na\n")


def test_lines_between_two_seams():
    def outer():
        before = lines.trail(())
        return before, inner()

    def inner():
        return lines.trail(())

    before, now = outer()
    first = outer.__code__.co_firstlineno
    file = outer.__code__.co_filename
    assert lines.between(before, now)[-2:] == [
        [file, first + 1, first + 2], [file, inner.__code__.co_firstlineno, inner.__code__.co_firstlineno + 1],
    ]
    assert lines.between(now, before)[0] == [file, inner.__code__.co_firstlineno + 1, lines.last(inner.__code__)]


def test_a_name_is_traced_to_its_last_assignment(tmp_path):
    file = tmp_path / "port.py"
    file.write_text(
        "def forward(x, y):\n    z = 2 * y\n    y = x\n"
        "    for a, b in [\n        z]:\n        y = a\n    return y + f(b)\n"
    )
    assert definitions(str(file), 7, 7) == [(4, 5), (6, 6)]
    assert definitions(str(file), 2, 2) == [] == definitions("missing.py", 1, 1)
