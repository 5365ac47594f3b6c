"""Removes what belongs to the user and not to the bug: home and temporary folders, user and host names, device ids."""

from __future__ import annotations

import getpass
import re
import socket
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

_UUID = re.compile(r"\b(GPU-)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", re.IGNORECASE)
_PACKAGES = re.compile(r"[^\s'\"(]*[/\\](?:site|dist)-packages[/\\]")
_HOME = re.compile(r"(?:/home/|/Users/|/root\b|[A-Za-z]:\\Users\\)[^\s'\",:;)]*")


def scrub(text: str, private: Iterable[str] | None = None) -> str:
    """Shorten private paths to their last part and replace names.

    A path inside an installed package starts at the package; a path of the framework's own build machine stays, for its
    maintainers know it.

    Args:
        text: any text of a report.
        private: user and host names; by default those of this machine.
    """
    text = _PACKAGES.sub("", text)
    for folder in _folders():
        text = re.sub(re.escape(folder) + r"[^\s'\",:;)]*", _last, text)
    text = _HOME.sub(_last, text)
    for name in _names() if private is None else private:
        text = re.sub(rf"\b{re.escape(name)}\b", "user", text)
    return _UUID.sub("UUID", text)


def _last(match: re.Match[str]) -> str:
    return re.split(r"[/\\]", match[0].rstrip("/\\"))[-1]


def _folders() -> list[str]:
    roots = {str(Path.home()), tempfile.gettempdir(), str(Path.cwd()), sys.prefix}
    return sorted((root for root in roots if len(root) > 1), key=len, reverse=True)


def _names() -> list[str]:
    try:
        user = getpass.getuser()
    except (OSError, KeyError):
        user = ""
    # These say nothing about a person, and are words of ordinary text.
    found = {user, socket.gethostname()} - {"", "root", "user", "admin", "localhost", "main", "runner"}
    return sorted((name for name in found if len(name) > 2), key=len, reverse=True)
