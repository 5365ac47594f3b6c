"""One stored bug: a folder with ``entry.toml``, ``case.json``, ``original.json`` and ``repro.py``.

A corpus may come from a stranger. Reading one decodes typed data within size limits and checks the script's digest; it
runs nothing, follows no link out of the folder, and takes no interpreter from the file.
"""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from minrepro import backends, replays
from minrepro.errors import UsageError
from minrepro.ir import codec
from minrepro.ir.case import Case
from minrepro.ir.signature import Signature

FORMAT = 1
LIMITS = {"entry.toml": 1 << 16, "case.json": 1 << 26, "original.json": 1 << 20, "repro.py": 1 << 23}
"""Files of an entry, and the longest that each may be, in bytes."""


class Meta(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What ``entry.toml`` says.

    Attributes:
        format: version of this file.
        title: what is wrong, in one line.
        framework: backend name.
        versions: package -> version that showed the bug.
        verdict: what it was judged to be.
        cause: rule that explained it, or ``unexplained``.
        created: date of storing, ISO 8601.
        script_sha256: digest of ``repro.py``.
        threads: size of the thread pools that the bug was shown with.
        replay: name of the historical bug that is replayed, or ``""``.
        signature: identity of the bug.
        rate: how often the script shows the bug.
    """

    format: int
    title: str
    framework: str
    versions: dict[str, str]
    verdict: str
    cause: str
    created: str
    script_sha256: str
    threads: int
    replay: str
    signature: Signature
    rate: float = 1.0


class Entry(msgspec.Struct, frozen=True):
    """A stored bug, read and checked."""

    slug: str
    folder: str
    meta: Meta
    case: Case
    original: Mapping[str, Any]
    script: str


def load(path: Path) -> Entry:
    """Read an entry.

    Args:
        path: its folder.

    Raises:
        UsageError: if something is missing, too large, malformed, changed, from a newer version, or leads elsewhere.
    """
    folder = path.resolve()
    if not folder.is_dir():
        raise UsageError(f"expected the folder of a corpus entry, found nothing at {path}; see `minrepro list corpus`")
    data = {name: _bytes(folder, name) for name in LIMITS}
    meta = _meta(data["entry.toml"], folder)
    digest = hashlib.sha256(data["repro.py"]).hexdigest()
    if digest != meta.script_sha256:
        raise UsageError(
            f"{folder.name}/repro.py was changed: expected sha256 {meta.script_sha256[:12]}, found {digest[:12]}; "
            "restore it, or store the bug again"
        )
    try:
        case = codec.decode(data["case.json"], Case)
        original = json.loads(data["original.json"])
        script = data["repro.py"].decode()
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{folder.name} cannot be read: {error}; restore it, or store the bug again") from None
    except UsageError as error:
        raise UsageError(f"{folder.name}/case.json: {error}") from None
    if not isinstance(original, dict):
        raise UsageError(f"{folder.name}/original.json: expected an object, found {type(original).__name__}")
    for spec in (backends.parse(case.reference), backends.parse(case.candidate)):
        if spec.interpreter:
            raise UsageError(f"{folder.name}/case.json names the interpreter {spec.interpreter!r}; an entry must not")
    return Entry(folder.name, str(folder), meta, case, original, script)


def _bytes(folder: Path, name: str) -> bytes:
    path = folder / name
    if path.is_symlink() or not path.is_file():
        what = "a link" if path.is_symlink() else "nothing"
        raise UsageError(f"expected the file {folder.name}/{name}, found {what}; the entry is not complete")
    size = path.stat().st_size
    if size > LIMITS[name]:
        raise UsageError(f"{folder.name}/{name} has {size} bytes, expected at most {LIMITS[name]}; it is not ours")
    return path.read_bytes()


def _meta(data: bytes, folder: Path) -> Meta:
    where = f"{folder.name}/entry.toml"
    try:
        raw = tomllib.loads(data.decode())
        found = raw.get("format")
        if isinstance(found, int) and found > FORMAT:
            raise UsageError(f"{where} has format {found}, expected at most {FORMAT}; install a newer minrepro")
        meta = msgspec.convert(raw, Meta)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where} is malformed: {error}; restore it, or store the bug again") from None
    if meta.framework not in backends.table():
        raise UsageError(f"{where}: unknown framework {meta.framework!r}; known: {', '.join(backends.table())}")
    # Only the replays that come with minrepro: `replays.find` would also take the path of any file.
    if meta.replay not in ("", *replays.names()):
        raise UsageError(f"{where}: unknown replay {meta.replay!r}; known: {', '.join(replays.names())}")
    return meta


def dump(meta: Meta) -> str:
    """``entry.toml`` as text: scalars first, then one table per mapping."""
    scalars, tables = [], []
    for key, value in codec.plain(meta).items():
        if isinstance(value, dict):
            tables += ["", f"[{key}]", *(f"{_key(name)} = {_toml(item)}" for name, item in value.items())]
        else:
            scalars.append(f"{key} = {_toml(value)}")
    return "\n".join([*scalars, *tables]) + "\n"


def _key(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name, re.ASCII) else _toml(name)


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    # A JSON string is a TOML string, but for DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
