"""An interpreter and packages for a backend: found, or made on demand in the user's cache folder.

`resolve` answers in milliseconds and installs nothing; `create` downloads, and says so first. No framework is imported in
this process: what another interpreter holds is asked of that interpreter.
"""

from __future__ import annotations

import sys

from minrepro.backends import Spec
from minrepro.environments import making, pythons, recipes, store
from minrepro.environments.making import create
from minrepro.environments.store import Environment, cache_folder, listing, remove
from minrepro.errors import BackendMissing

__all__ = ["Environment", "cache_folder", "create", "listing", "remove", "resolve"]


def resolve(spec: Spec) -> Environment:
    """Find the environment that a backend spec asks for.

    The interpreter that the spec names; else an environment in the cache that has the version asked for, or the recipe's
    default one; else minrepro's own interpreter. NumPy without a version is always the last of these.

    Raises:
        BackendMissing: if there is none; the message ends with the command that adds it.
    """
    if spec.interpreter:
        return _external(spec, spec.interpreter)
    host = spec.backend.module == "numpy" and not spec.version
    made = None if host else making.find(spec.name, recipes.wanted_version(spec))
    if made is not None:
        return made
    try:
        return _external(spec, sys.executable)
    except BackendMissing:
        asked = f"{spec.backend.title} {recipes.wanted_version(spec)}".strip()
        raise BackendMissing(
            f"{asked} is neither in {cache_folder()} nor in minrepro's own Python, {sys.executable}. "
            f"Add it with:\nminrepro env create {making.command_spec(spec)}"
        ) from None


def _external(spec: Spec, interpreter: str) -> Environment:
    """An interpreter that minrepro did not make, if it holds the framework."""
    backend = spec.backend
    found = pythons.installed(interpreter, backend.module, "numpy")
    problem, version = "", ""
    if found is None:
        problem = "it is not a Python that runs"
    elif missing := [name for name in (backend.module, "numpy") if name not in found.importable]:
        problem = f"it has no module {missing[0]!r}"
    elif not pythons.admits(backend.python, found.minor):
        problem = f"it is Python {found.minor}, and {backend.title} needs {backend.python}"
    else:
        version = _version(found.packages, backend.package)
        if spec.version and not store.same_version(spec.version, version):
            problem = f"it has {backend.title} {version or 'of no stated version'}"
    if problem:
        raise BackendMissing(
            f"{interpreter} was to provide {backend.title} {spec.version}".rstrip() + f", but {problem}. "
            f"Install it there, or leave the interpreter out and run:\nminrepro env create {making.command_spec(spec)}"
        )
    name = f"{spec.name}-{version}-py{found.minor}"
    return Environment(name, spec.name, version, interpreter, "", found.packages, 0)


def _version(packages: dict[str, str], package: str) -> str:
    """The version of a package or of a build of it with another name, such as ``paddlepaddle-gpu``."""
    names = [name for name in packages if name == package or name.startswith(package + "-")]
    return packages[min(names, key=len)] if names else ""
