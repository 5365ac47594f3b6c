"""Script templates: valid Python whose capital names are holes.

A hole on a line of its own takes statements (none removes the line), inside an expression it takes an expression, in a
comment or a string it takes words. What fills a hole is parsed as what it has to be, and so is the finished script: a
template cannot produce something that does not compile, and a hole that nobody filled is an error.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from minrepro.emit.shipped import folder
from minrepro.errors import InternalError

STATEMENTS = ("NOTES", "IMPORTS", "SETUP", "STEPS", "EXPECT", "GUARD", "REFERENCE", "PORT", "RIGHT")
EXPRESSIONS = ("ACTUAL", "SHOW_EXPECTED", "SHOW_ACTUAL", "SAME", "KIND", "ENDINGS", "SECONDS")
WORDS = ("PYTHON", "PACKAGES", "TITLE", "WHY", "LIMIT", "DUE", "PARAMETERS")

_HOLE = re.compile(rf"\b({'|'.join(STATEMENTS + EXPRESSIONS + WORDS)})\b")


def kinds() -> tuple[str, ...]:
    """The kinds of script there are templates for."""
    return tuple(sorted(path.stem for path in folder("templates").glob("*.py")))


def read(kind: str) -> str:
    """The text of a template."""
    return (folder("templates") / f"{kind}.py").read_text(encoding="utf-8")


def fill(template: str, holes: Mapping[str, str | Sequence[str]]) -> str:
    """Fill every hole of a template.

    Args:
        template: its text.
        holes: name -> list of lines for `STATEMENTS`, text for the others; names that the template lacks are ignored.

    Raises:
        InternalError: if a hole is missing, or a filling or the result is not Python.
    """
    lines: list[str] = []
    for line in template.splitlines():
        name = line.strip()
        if name in STATEMENTS:
            indent = line[: len(line) - len(line.lstrip())]
            lines += [indent + part if part else "" for part in _statements(name, holes)]
            continue
        filled = _HOLE.sub(lambda match: _inline(match[1], holes), line)
        # A comment whose words are empty disappears.
        lines.append(filled.rstrip().removesuffix("  #") if "  # " in line else filled)
    # A condition that always holds is none.
    text = "\n".join(lines).replace("(0 if True else 125)", "(0)") + "\n"
    _parse(text, "exec", "the filled template")
    return text


def _statements(name: str, holes: Mapping[str, str | Sequence[str]]) -> Sequence[str]:
    lines = _get(name, holes)
    _parse("\n".join(lines), "exec", name)
    return lines


def _inline(name: str, holes: Mapping[str, str | Sequence[str]]) -> str:
    text = _get(name, holes)
    assert isinstance(text, str), f"{name} takes text, not lines"
    if name in EXPRESSIONS:
        _parse(text, "eval", name)
    elif "\n" in text or '"""' in text or "\\" in text:
        raise InternalError(f"the words for {name} would end their comment or string: {text!r}")
    return text


def _get(name: str, holes: Mapping[str, str | Sequence[str]]) -> str | Sequence[str]:
    try:
        return holes[name]
    except KeyError:
        raise InternalError(f"nobody filled the hole {name} of the template; fill it in emit/script.py") from None


def _parse(text: str, mode: str, what: str) -> None:
    try:
        ast.parse(text, mode=mode)
    except SyntaxError as error:
        raise InternalError(f"expected Python for {what}, found {text[:200]!r} ({error.msg})") from None
