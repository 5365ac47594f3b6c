"""How to install each framework: one file per backend, each with a `RECIPE`.

A recipe knows what a package index does not say: which Python suits, which undeclared packages are needed, which build is
for the CPU, how large it is. Versions live in `constraints.txt`. A backend without a file here is installed as its
package plus NumPy, so that a new backend still is one file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import msgspec

from minrepro import registry
from minrepro.backends import Backend, Spec
from minrepro.environments.pythons import OWN_MINOR, admits

Say = Callable[[str], object]
CONSTRAINTS = Path(__file__).parent.parent / "constraints.txt"


class Variant(msgspec.Struct, frozen=True):
    """One way to install a framework; the first that the user's indexes can serve is taken.

    Attributes:
        requirements: what to install.
        note: a sentence that the user is told when this variant is taken.
        uv_arguments: further arguments that only uv has; without uv the variant is passed over.
        download_bytes: size of what is fetched when nothing is cached, measured; 0 if not known.
        installed_bytes: size on disk afterwards, measured; 0 if not known.
        finish: last step, given the folder of installed packages.
    """

    requirements: tuple[str, ...]
    note: str = ""
    uv_arguments: tuple[str, ...] = ()
    download_bytes: int = 0
    installed_bytes: int = 0
    finish: Callable[[Path, Say], None] | None = None


class Recipe(msgspec.Struct, frozen=True):
    """How to install one backend.

    Attributes:
        variants: version (empty: the default one is not to be had, any will do) -> ways to install it, best first.
        pythons: minor versions, preferred first; those outside the backend's own range are never tried.
        refusal: why other interpreters are refused, for the message.
    """

    variants: Callable[[str], tuple[Variant, ...]]
    pythons: tuple[str, ...] = ("3.11", "3.12", "3.10", "3.13", "3.9", "3.14", "3.8")
    refusal: str = ""


@cache
def pins() -> Mapping[str, tuple[str, ...]]:
    """Backend -> its lines of `constraints.txt`."""
    sections: dict[str, list[str]] = {}
    for line in CONSTRAINTS.read_text().splitlines():
        if line.startswith("["):
            sections[line.strip("[]")] = current = []
        elif line and not line.startswith("#"):
            current.append(line)
    return {name: tuple(lines) for name, lines in sections.items()}


def default_version(backend: str) -> str:
    """The version that is installed when none is asked for; empty if none is pinned."""
    lines = pins().get(backend, ())
    return lines[0].partition("==")[2].partition(";")[0].strip() if lines else ""


def wanted_version(spec: Spec) -> str:
    """The version that a spec asks for, or the default one."""
    return spec.version or default_version(spec.name)


def find(backend: Backend) -> Recipe:
    """The recipe of a backend."""
    recipe = registry.table("minrepro.environments.recipes", "RECIPE").get(backend.name)
    if recipe is not None:
        return recipe

    def plain(version: str) -> tuple[Variant, ...]:
        return (Variant((backend.package + (f"=={version}" if version else ""), "numpy")),)

    return Recipe(plain)


def pythons(backend: Backend) -> tuple[str, ...]:
    """Minor versions to try for a backend, preferred first; minrepro's own comes last if no recipe names it."""
    wanted = dict.fromkeys((*find(backend).pythons, OWN_MINOR))
    return tuple(minor for minor in wanted if admits(backend.python, minor))


def major(version: str) -> int:
    """The first number of a version; a large one if there is no version."""
    head = version.partition(".")[0]
    return int(head) if head.isdigit() else 10**6
