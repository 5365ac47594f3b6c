"""Spellings for what a framework does not have, where it would otherwise inherit the text of a neighbour."""

from __future__ import annotations

from minrepro.errors import Unsupported
from minrepro.ops.row import Args, Spelling


def absent(framework: str, what: str) -> Spelling:
    """A spelling that always refuses.

    Args:
        framework: its title, for the message.
        what: the missing function, for the message.
    """

    def refuse(a: Args) -> str:
        raise Unsupported(f"{framework} has no {what}; compare on another backend, or give the row a spelling")

    refuse.absent = True  # type: ignore[attr-defined]  # what coverage looks for
    return refuse
