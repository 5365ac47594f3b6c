"""One file per framework; this module turns their tables into `Backend`s and parses backend specs.

A backend spec is ``name[==version][@interpreter][[option=value,...]][+replay:NAME]``:

    torch    paddle==3.0.0    oneflow    torch@/path/to/python    torch[threads=2]    oneflow+replay:flat-copy
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Mapping

import msgspec

from minrepro import ops, registry
from minrepro.errors import Unsupported, UsageError
from minrepro.ops.row import Op, Spelling


class Backend(msgspec.Struct, frozen=True):
    """A framework as the host sees it.

    Attributes:
        name: short name, the file's name.
        package: distribution to install.
        module: name to import.
        title: as its people write it.
        tracker: issue template in `templates/`.
        python: interpreter versions that have wheels.
        imports: root name in spellings -> import line.
        dtypes: dtype name -> source text.
        style: templates for literals and views (see `backends/torch.py`).
        implied: dtypes a literal has without being told.
        like: backend whose spellings are used where there is none.
        rename: root names to replace in those.
        spells: operator -> spelling that only this file knows.
        path: the file, for the worker.
        dead_after_fork: operators that hang in a forked child and nowhere else.
        gradient: text around a step that is differentiated (see `backends/torch.py`); empty if there are no gradients.
    """

    name: str
    package: str
    module: str
    title: str
    tracker: str
    python: str
    imports: Mapping[str, str]
    dtypes: Mapping[str, str]
    style: Mapping[str, str]
    implied: tuple[str, ...]
    path: str
    like: str = ""
    rename: Mapping[str, str] = {}
    spells: Mapping[str, Spelling] = {}
    dead_after_fork: tuple[str, ...] = ()
    gradient: Mapping[str, str] = {}

    def spelling(self, row: Op) -> tuple[Spelling, Mapping[str, str]]:
        """The spelling of an operator and the renaming that goes with it.

        Raises:
            Unsupported: if there is none.
            ValueError: if the row and this backend's file both give one.
        """
        own, given = self.spells.get(row.name), row.spellings.get(self.name)
        if own is not None and given is not None:
            raise ValueError(f"{row.name!r} on {self.name} is spelled by its row and by {self.path}")
        if own is not None or given is not None:
            return (own if own is not None else given), {}
        if self.like and self.like in row.spellings:
            return row.spellings[self.like], self.rename
        raise Unsupported(f"the operator {row.name!r} has no spelling on {self.title}; add one to its row in ops/")

    def spells_op(self, row: Op) -> bool:
        """True if the operator has a spelling that does not refuse whatever its arguments are (`ops.absent`)."""
        try:
            return not getattr(self.spelling(row)[0], "absent", False)
        except Unsupported:
            return False


STYLE = ("literal", "zeros", "from_numpy", "to_numpy", "transpose", "permute", "slice", "expand", "strided")


@cache
def table() -> dict[str, Backend]:
    """Every backend by name."""
    found = {}
    for module in registry.modules("minrepro.backends"):
        data = getattr(module, "BACKEND", None)
        if data is None:
            continue
        name = module.__name__.rpartition(".")[2]
        found[name] = Backend(
            name=name,
            package=data["package"],
            module=data["import"],
            title=data["title"],
            tracker=data["tracker"],
            python=data["python"],
            imports=data["imports"],
            dtypes=data["dtypes"],
            style={key: data[key] for key in STYLE},
            implied=tuple(data["implied"]),
            path=str(Path(module.__file__).resolve()),
            like=data.get("like", ""),
            rename=data.get("rename", {}),
            spells=data.get("spells", {}),
            dead_after_fork=tuple(data.get("dead_after_fork", ())),
            gradient=data.get("gradient", {}),
        )
    return found


class Spec(msgspec.Struct, frozen=True):
    """A parsed backend spec."""

    name: str
    version: str = ""
    interpreter: str = ""
    options: Mapping[str, str] = {}
    replay: str = ""

    @property
    def backend(self) -> Backend:
        """The framework."""
        return table()[self.name]

    def __str__(self) -> str:
        text = self.name + (f"=={self.version}" if self.version else "")
        text += f"@{self.interpreter}" if self.interpreter else ""
        text += "[" + ",".join(f"{k}={v}" for k, v in self.options.items()) + "]" if self.options else ""
        return text + (f"+replay:{self.replay}" if self.replay else "")


_SPEC = re.compile(
    r"(?P<name>[a-z_]\w*)(==(?P<version>[\w.+!-]+?))?(@(?P<interpreter>[^\[\]]+?))?"
    r"(\[(?P<options>[^\]]*)\])?(\+replay:(?P<replay>.+))?"
)


def parse(text: str) -> Spec:
    """Parse a backend spec.

    Raises:
        UsageError: if it does not parse or the backend is unknown; the message lists what there is.
    """
    match = _SPEC.fullmatch(text.strip())
    if match is None:
        raise UsageError(f"cannot read the backend {text!r}; expected name[==version][@interpreter][+replay:NAME]")
    if match["name"] not in table():
        raise UsageError(f"unknown backend {match['name']!r}; known: {', '.join(table())}")
    options = dict(part.split("=", 1) for part in (match["options"] or "").split(",") if "=" in part)
    return Spec(match["name"], match["version"] or "", match["interpreter"] or "", options, match["replay"] or "")


def coverage() -> dict[str, tuple[str, ...]]:
    """Operator -> the backends that spell it."""
    return {
        name: tuple(b.name for b in table().values() if b.spells_op(row)) for name, row in ops.table().items()
    }
