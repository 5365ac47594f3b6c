"""Historical bugs re-created on purpose, one file each, for demonstrations and tests of the whole machine.

A replay file holds the table ``REPLAY`` (name, title, history) and ``install(backend)``, which patches the framework
inside a worker or under a script. A finding made under one carries its name everywhere, so that it is never mistaken
for a live bug.

Whoever plants a fault of their own gives the path of a Python file with such an ``install`` instead of a name.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import msgspec

from minrepro import registry
from minrepro.errors import UsageError


class Replay(msgspec.Struct, frozen=True):
    """One historical bug.

    Attributes:
        name: what ``+replay:NAME`` takes.
        title: what went wrong, in one line.
        history: which framework and versions had it.
        path: the file with ``install(backend)``.
    """

    name: str
    title: str
    history: str
    path: Path


@cache
def table() -> dict[str, Replay]:
    """Every replay by name."""
    found = {}
    for module in registry.modules("minrepro.replays"):
        data = module.REPLAY
        found[data["name"]] = Replay(data["name"], data["title"], data["history"], Path(module.__file__).resolve())
    return found


def names() -> tuple[str, ...]:
    """The names of all replays."""
    return tuple(table())


def find(name: str) -> Replay:
    """Look a replay up by name, or by the path of a file with an ``install``.

    Raises:
        UsageError: if there is none; the message lists what there is.
    """
    if name in table():
        return table()[name]
    path = Path(name)
    if path.suffix != ".py" or not path.is_file():
        raise UsageError(f"unknown replay {name!r}; known: {', '.join(names())}, or the path of a file with an install()")
    return _planted(name, path.resolve())


def _planted(name: str, path: Path) -> Replay:
    """A file outside the package; its syntax tree is read, for the host never runs it."""
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (SyntaxError, UnicodeDecodeError) as error:
        raise UsageError(f"expected Python in {name}, found something else ({error})") from None
    if not any(isinstance(part, ast.FunctionDef) and part.name == "install" for part in tree.body):
        raise UsageError(f"expected a function install(backend) in {name}, found none; see minrepro/replays/flat_copy.py")
    title = (ast.get_docstring(tree) or path.stem).splitlines()[0].rstrip(".")
    return Replay(name, title, f"planted by {path.name}", path)
