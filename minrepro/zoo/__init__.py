"""The models that ``--model NAME`` knows. A file here is a model: nothing else lists it.

A zoo file is native torch code that runs in the worker, so the host never imports it; `names` reads its syntax tree.
It defines ``ZOO = {"name": callable}``, or one ``build``, under the file's own name. The callable takes ``seed`` and
returns (module, inputs). The folder is on the path when a zoo file runs, so it may import `drawing`.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
PORTS = FOLDER / "ports"
"""Native ports, a folder for each framework. They lie one deeper because `FOLDER` is on the path of a worker, where a
folder called paddle would pass for the framework."""


@cache
def names() -> dict[str, tuple[str, str]]:
    """Model name -> (file, function), sorted by name."""
    found: dict[str, tuple[str, str]] = {}
    for path in sorted(FOLDER.glob("*.py")):
        for name, function in _models(path):
            found[name] = (str(path), function)
    return dict(sorted(found.items()))


@cache
def ports(framework: str) -> dict[str, tuple[str, str]]:
    """Model name -> (file, function) of the native ports to a framework; a folder of its name holds them."""
    found: dict[str, tuple[str, str]] = {}
    for path in sorted((PORTS / framework).glob("*.py")):
        for name, function in _models(path):
            found[name] = (str(path), function)
    return dict(sorted(found.items()))


def port_map(file: str) -> dict[str, str]:
    """The ``MAP`` of a port: reference names -> the port's, with ``*`` for one part of a path."""
    for statement in ast.parse(Path(file).read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "MAP":
            return ast.literal_eval(statement.value)
    return {}


def _models(path: Path) -> list[tuple[str, str]]:
    models = []
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.FunctionDef) and statement.name == "build":
            models.append((path.stem, "build"))
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "ZOO":
            assert isinstance(statement.value, ast.Dict), f"{path}: ZOO must be a dict of names and functions"
            models += [(key.value, value.id) for key, value in zip(statement.value.keys, statement.value.values)]
    return models
