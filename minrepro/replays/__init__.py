"""Historical bugs re-created on purpose, one file each, for demonstrations and tests of the whole machine.

A replay file holds the table ``REPLAY`` (name, title, history) and ``install(backend)``, which patches the framework
inside a worker or under a script. A finding made under one carries its name everywhere, so that it is never mistaken
for a live bug.
"""

from __future__ import annotations

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
    """Look a replay up by name.

    Raises:
        UsageError: if there is none; the message lists what there is.
    """
    if name not in table():
        raise UsageError(f"unknown replay {name!r}; known: {', '.join(names())}")
    return table()[name]
