"""Folder scan -> table: the only discovery code.

An extension is a file. Dropping `ops/foo.py`, `backends/foo.py` or `shrink/passes/foo.py` into its folder is
all it takes; nothing else lists it. Modules are imported in name order, so tables are the same everywhere.
"""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType


def modules(package: str) -> tuple[ModuleType, ...]:
    """Import every public module of a package folder.

    Args:
        package: dotted name, for example ``"minrepro.ops"``. Names that start with ``_`` are skipped.

    Returns:
        The modules in name order.
    """
    parent = importlib.import_module(package)
    names = sorted(info.name for info in pkgutil.iter_modules(parent.__path__))
    return tuple(importlib.import_module(f"{package}.{name}") for name in names if not name.startswith("_"))


def table(package: str, attribute: str) -> dict[str, object]:
    """Collect one attribute of every module in a package that has it, keyed by module name."""
    return {
        module.__name__.rpartition(".")[2]: getattr(module, attribute)
        for module in modules(package)
        if hasattr(module, attribute)
    }
