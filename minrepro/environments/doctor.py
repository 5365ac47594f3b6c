"""What works on this machine, what is missing, and the one command that mends each.

Unlike `resolve`, it really imports each framework it finds, in its own interpreter, and tells how long that took.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import msgspec

from minrepro.backends import Backend, Spec, table
from minrepro.environments import cache_folder, installer, making, recipes, resolve, stand_ins
from minrepro.environments.pythons import clean_environment
from minrepro.errors import BackendMissing

LARGEST_BYTES = 4_110_000_000  # OneFlow with NVIDIA's wheels


class Row(msgspec.Struct, frozen=True):
    """One finding.

    Attributes:
        subject: a backend's name, or what was checked.
        ok: False if something has to be done.
        found: the finding in words.
        interpreter: where the framework is.
        version: its version.
        bytes: size on disk; 0 if minrepro did not make it.
        import_seconds: wall time of a Python that only imports it; 0 if it was not imported.
        command: what mends or adds it; empty if there is nothing to do.
    """

    subject: str
    ok: bool
    found: str
    interpreter: str = ""
    version: str = ""
    bytes: int = 0
    import_seconds: float = 0.0
    command: str = ""


def doctor() -> list[Row]:
    """Check every backend and what workers and creations need of the machine."""
    return [*(_backend(backend) for backend in table().values()), _memory(), _uv(), _disk(), _compiler()]


def _backend(backend: Backend) -> Row:
    spec = Spec(backend.name)
    command = f"minrepro env create {making.command_spec(spec)}"
    try:
        found = resolve(spec)
    except BackendMissing:
        return Row(backend.name, False, "missing", version=recipes.wanted_version(spec), command=command)
    started = time.perf_counter()
    done = subprocess.run(
        [found.interpreter, "-I", "-W", "ignore", "-c", f"import {backend.module}"],
        capture_output=True,
        check=False,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        env=clean_environment(),
    )
    seconds = time.perf_counter() - started
    where = f"in {found.folder}" if found.folder else "in an interpreter of yours"
    if done.returncode == 0:
        return Row(backend.name, True, where, found.interpreter, found.version, found.bytes, seconds)
    why = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
    if found.folder:
        command = f"minrepro env remove {found.name} && {command}"
    return Row(
        backend.name, False, f"cannot be imported: {why}", found.interpreter, found.version, found.bytes, 0, command
    )


def _memory() -> Row:
    folder = Path("/dev/shm")
    if not folder.is_dir():
        return Row("/dev/shm", True, "not on this system; tensors pass through the temporary folder, which is slower")
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"minrepro")
    except OSError as error:
        found = f"cannot be written ({error.strerror}); tensors pass through the temporary folder, which is slower"
        return Row("/dev/shm", False, found, command="mount -o remount,rw /dev/shm")
    free = shutil.disk_usage(folder).free
    # A model's weights pass through it once per side; a container's usual 64 MB is too little.
    mend = "" if free >= 1 << 29 else "mount -o remount,size=4G /dev/shm   # for a container: run it with --shm-size=4g"
    return Row("/dev/shm", not mend, f"can be written, {making.human_size(free)} free", command=mend)


def _uv() -> Row:
    path = installer.uv_path()
    if path is None:
        return Row(
            "uv",
            False,
            "missing; environments are made with venv and pip, several times slower",
            command="pip install uv",
        )
    done = subprocess.run([path, "--version"], capture_output=True, check=False, text=True, stdin=subprocess.DEVNULL)
    return Row("uv", done.returncode == 0, path, version=done.stdout.partition(" ")[2].strip())


def _disk() -> Row:
    folder = cache_folder()
    existing = next(path for path in (folder, *folder.parents) if path.is_dir())
    free = shutil.disk_usage(existing).free
    ok = free >= LARGEST_BYTES and os.access(existing, os.W_OK)
    mend = "" if ok else "export MINREPRO_CACHE=FOLDER   # a folder that can be written, on a disk with room"
    return Row("cache", ok, f"{folder}: {making.human_size(free)} free", command=mend)


def _compiler() -> Row:
    if stand_ins.can_compile():
        return Row("gcc, nm", True, "found; OneFlow's CUDA libraries can be stood in for, which saves 1.4 GB")
    return Row("gcc, nm", True, "not both found; OneFlow's environment takes NVIDIA's wheels, 1.4 GB more")
