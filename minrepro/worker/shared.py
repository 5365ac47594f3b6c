"""Where the files lie through which large tensors travel between host and workers, and who removes them."""

from __future__ import annotations

import mmap
import os
import tempfile
from pathlib import Path

import numpy as np

SLOTS = ("", "-1", "-2")
"""Ends of the names of a worker's output files. An answer stays until the next one in the same file, so that who asks in
two others in turn may ask for the next answer before he has read this one."""


def shared_folder() -> Path:
    """Where shared files go: memory where there is such a folder, else the temporary folder."""
    memory = Path("/dev/shm")
    return memory if memory.is_dir() and os.access(memory, os.W_OK) else Path(tempfile.gettempdir())


def sweep() -> None:
    """Remove shared files of hosts that are gone: a killed host cannot do it itself."""
    for path in shared_folder().glob("minrepro-*-*-*"):
        owner = path.name.split("-")[1]
        if owner.isdigit() and not Path(f"/proc/{owner}").exists():
            path.unlink(missing_ok=True)


class Windows:
    """Views of the files that a worker writes and reuses, mapped anew when they have grown."""

    def __init__(self) -> None:
        self._maps: dict[str, mmap.mmap] = {}

    def items(self, path: str, kind: np.dtype, count: int, offset: int) -> np.ndarray:
        """So many items from an offset on, read-only and without a copy."""
        known = self._maps.get(path)
        if known is None or len(known) < offset + count * kind.itemsize:
            with open(path, "rb") as file:
                known = self._maps[path] = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        return np.frombuffer(known, kind, count, offset)

    def forget(self) -> None:
        """Let go of all files."""
        self._maps.clear()
