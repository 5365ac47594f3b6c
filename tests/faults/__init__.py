"""Planted faults: each file with a table ``FAULT`` makes torch wrong in exactly one known way.

A fault file runs in a torch worker after the import (``torch+replay:tests/faults/gelu_dim7.py``), so it keeps to Python
3.8 and imports nothing at the top. ``python -m tests.faults`` finds every fault in the model that hides it, reduces it,
and compares the end with the brute-forced minimum (`brute`).
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

import msgspec

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent


class Fault(msgspec.Struct, frozen=True):
    """One planted fault.

    Attributes:
        name: the file's name.
        title: what is wrong, in one line.
        family: what it is an example of.
        model: zoo name or ``file.py:callable`` of the model that hides it.
        ops: operators of the smallest case that shows it, in order.
        symptom: see `minrepro.ir.divergence.SYMPTOMS`.
        mode: ``forward`` or ``load``.
        path: the file.
    """

    name: str
    title: str
    family: str
    model: str
    ops: tuple[str, ...]
    symptom: str
    path: Path
    mode: str = "forward"

    @property
    def candidate(self) -> str:
        """What comes after the backend in a candidate's spec."""
        return f"+replay:{self.path}"

    @property
    def model_path(self) -> str:
        """The model as `capture` takes it, wherever the command was started."""
        return str(ROOT / self.model) if ".py" in self.model else self.model

    @property
    def digest(self) -> str:
        """Changes when the fault changes."""
        return hashlib.sha256(self.path.read_bytes()).hexdigest()[:12]


@cache
def table() -> dict[str, Fault]:
    """Every fault by name, sorted by family and name; nothing is run for this."""
    found = []
    for path in sorted(FOLDER.glob("*.py")):
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(statement, ast.Assign) and getattr(statement.targets[0], "id", "") == "FAULT":
                data = ast.literal_eval(statement.value)
                found.append(msgspec.convert({**data, "name": path.stem, "path": path}, Fault, dec_hook=_as_path))
    return {fault.name: fault for fault in sorted(found, key=lambda fault: (fault.family, fault.name))}


def _as_path(kind: type, value: object) -> object:
    return value if isinstance(value, kind) else kind(value)
