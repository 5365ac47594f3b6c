"""Finds real Python interpreters on this machine, and asks one what it has installed.

A name on PATH is not yet an interpreter: version managers put shims there that fail unless a version is selected.
Every candidate is therefore started once, and the path that it gives for itself is used from then on.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import msgspec

OWN_MINOR = f"{sys.version_info.major}.{sys.version_info.minor}"

PROBE = """
import json, platform, sys, sysconfig
print(json.dumps({
    "path": getattr(sys, "_base_executable", None) or sys.executable,
    "minor": "%d.%d" % sys.version_info[:2],
    "usual": platform.python_implementation() == "CPython" and not sysconfig.get_config_var("Py_GIL_DISABLED"),
}))
"""

INSTALLED = """
import importlib.util, json, sys
from importlib import metadata
packages = {}
for found in metadata.distributions():
    name = found.metadata["Name"]
    if name:
        packages.setdefault(name.lower().replace("_", "-"), found.version)
print(json.dumps({
    "minor": "%d.%d" % sys.version_info[:2],
    "importable": [name for name in sys.argv[1:] if importlib.util.find_spec(name) is not None],
    "packages": dict(sorted(packages.items())),
}))
"""


class Installed(msgspec.Struct, frozen=True):
    """What an interpreter has, without importing it: its own version, which modules it finds, its packages."""

    minor: str
    importable: tuple[str, ...]
    packages: dict[str, str]


def clean_environment() -> dict[str, str]:
    """The process environment without what would lend a child this Python's packages or withhold bytecode."""
    dropped = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV", "CONDA_PREFIX")
    return {name: value for name, value in os.environ.items() if name not in dropped}


def installed(interpreter: str, *modules: str) -> Installed | None:
    """Ask an interpreter what it has; None if it does not run."""
    text = _ask([interpreter, "-I", "-c", INSTALLED, *modules])
    try:
        return msgspec.json.decode(text, type=Installed) if text else None
    except msgspec.DecodeError:
        return None


def find(minor: str, ask_uv: Callable[[str], str | None] | None = None) -> str | None:
    """The full path of a CPython of one minor version.

    Args:
        minor: for example ``"3.10"``.
        ask_uv: gives uv's answer for a minor version, asked last.

    Returns:
        The base interpreter, also where a virtual environment was found; None if this machine has none.
    """
    for candidate in _candidates(minor, ask_uv):
        path = probe(candidate, minor)
        if path is not None:
            return path
    return None


@cache
def probe(candidate: str, minor: str = "") -> str | None:
    """The base interpreter behind a path, if it runs and is a CPython (of that minor version)."""
    text = _ask([candidate, "-I", "-c", PROBE])
    if not text:
        return None
    answer = json.loads(text)
    return answer["path"] if answer["usual"] and minor in ("", answer["minor"]) else None


def _candidates(minor: str, ask_uv: Callable[[str], str | None] | None) -> Iterator[str]:
    if minor == OWN_MINOR:
        yield sys.executable
    for folder in os.get_exec_path():
        path = os.path.join(folder, f"python{minor}")
        if os.access(path, os.X_OK):
            yield path
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    versions = [path for path in root.glob(f"versions/{minor}.*") if re.fullmatch(r"[\d.]+", path.name)]
    for version in sorted(versions, key=lambda path: [int(part) for part in path.name.split(".")], reverse=True):
        yield str(version / "bin" / f"python{minor}")
    answer = ask_uv(minor) if ask_uv is not None else None
    if answer:
        yield answer


def _ask(command: list[str]) -> str:
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            check=False,
            text=True,
            timeout=60,
            stdin=subprocess.DEVNULL,
            env=clean_environment(),
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = done.stdout.strip().splitlines()
    return lines[-1] if done.returncode == 0 and lines else ""


def admits(bounds: str, minor: str) -> bool:
    """True if a Python requirement such as ``>=3.8,<3.11`` admits a minor version."""
    version = tuple(int(part) for part in minor.split("."))
    for clause in filter(None, (part.strip() for part in bounds.split(","))):
        match = re.fullmatch(r"(>=|<=|==|!=|>|<)\s*(\d+)\.(\d+)", clause)
        if match is None:
            raise ValueError(f"cannot read the Python requirement {bounds!r}; expected clauses such as >=3.8")
        bound = (int(match[2]), int(match[3]))
        holds = {
            ">=": version >= bound,
            "<=": version <= bound,
            "==": version == bound,
            "!=": version != bound,
            ">": version > bound,
            "<": version < bound,
        }
        if not holds[match[1]]:
            return False
    return True
