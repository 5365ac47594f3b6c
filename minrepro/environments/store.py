"""The environments that lie in the user's cache folder: what each is, where, and how to find or remove one.

An environment is a folder that appears in one rename, so a folder with a readable record is complete. Everything that
starts with a dot is work in progress or a lock, never an environment.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Mapping
from pathlib import Path

import msgspec
import platformdirs

from minrepro.errors import UsageError

RECORD = "minrepro.json"


class Environment(msgspec.Struct, frozen=True):
    """An interpreter that can import a framework.

    Attributes:
        name: for example ``paddle-3.3.1-py3.11``; what `remove` takes.
        backend: backend name.
        version: the framework's version as its package states it, local part included (``2.13.0+cpu``).
        interpreter: path of the Python.
        folder: where it lies in the cache; empty if minrepro did not make it.
        packages: installed distribution -> version.
        bytes: size on disk; 0 if minrepro did not make it.
    """

    name: str
    backend: str
    version: str
    interpreter: str
    folder: str
    packages: Mapping[str, str]
    bytes: int


def cache_folder() -> Path:
    """Where environments are kept: ``$MINREPRO_CACHE/environments``, else below the user's cache folder."""
    root = os.environ.get("MINREPRO_CACHE") or platformdirs.user_cache_dir("minrepro")
    return Path(root).expanduser().absolute() / "environments"


def same_version(asked: str, found: str) -> bool:
    """True if a found version is the one that was asked for.

    As in package requirements, ``3.0`` means ``3.0.0``, and a local part (``+cpu``) counts only if it was asked for.
    """
    if "+" not in asked:
        found = found.partition("+")[0]
    return _trimmed(asked) == _trimmed(found)


def _trimmed(version: str) -> str:
    public, plus, local = version.partition("+")
    while public.endswith(".0"):
        public = public[:-2]
    return public + plus + local


def listing() -> tuple[Environment, ...]:
    """Every environment in the cache whose interpreter still exists, in name order."""
    folder = cache_folder()
    if not folder.is_dir():
        return ()
    found = (read(path) for path in sorted(folder.iterdir()) if not path.name.startswith("."))
    return tuple(environment for environment in found if environment is not None)


def read(folder: Path) -> Environment | None:
    """The environment in a folder; None if it has no sound record or its interpreter is gone."""
    try:
        environment = msgspec.json.decode((folder / RECORD).read_bytes(), type=Environment)
    except (OSError, msgspec.DecodeError):
        return None
    # A record moves with its folder, so the paths in it are those of the place where it is found.
    environment = msgspec.structs.replace(
        environment, name=folder.name, folder=str(folder), interpreter=str(folder / "bin" / "python")
    )
    return environment if os.access(environment.interpreter, os.X_OK) else None


def write(environment: Environment, folder: Path) -> None:
    """Write the record of an environment into its folder."""
    (folder / RECORD).write_bytes(msgspec.json.format(msgspec.json.encode(environment), indent=1) + b"\n")


def remove(name: str) -> None:
    """Delete an environment of the cache.

    Raises:
        UsageError: if there is none of that name; the message lists the names there are.
    """
    folder = cache_folder() / name
    if name in ("", ".", "..") or name.startswith(".") or "/" in name or not folder.is_dir():
        known = ", ".join(environment.name for environment in listing()) or "none"
        raise UsageError(f"no environment is called {name!r} in {cache_folder()}; there are: {known}")
    discard(folder)


def place(made: Path, target: Path) -> None:
    """Give a finished environment its name; one that is sound and came first under another spelling stays."""
    if read(target) is None:
        if target.exists():  # its record is damaged or its Python is gone
            discard(target)
        os.rename(made, target)


def discard(folder: Path) -> None:
    """Delete a folder of the cache so that no moment shows half of it under its name."""
    grave = folder.with_name(f".removing-{uuid.uuid4().hex[:8]}")
    os.rename(folder, grave)
    shutil.rmtree(grave, ignore_errors=True)


def size_bytes(folder: Path) -> int:
    """Disk space that a folder takes; files that are linked from elsewhere (uv's cache) count in full."""
    seen: dict[tuple[int, int], int] = {}
    for root, _, files in os.walk(folder):
        for file in files:
            status = os.lstat(os.path.join(root, file))
            seen[status.st_dev, status.st_ino] = status.st_blocks * 512
    return sum(seen.values())
