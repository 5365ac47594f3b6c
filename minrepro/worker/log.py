"""What a worker printed: nothing of it goes anywhere else, its end is shown, and no flood fills the disk."""

from __future__ import annotations

import os
from pathlib import Path

LONGEST = 1 << 26
"""Length at which a log is emptied; a candidate may print without end."""
END = 1 << 14
"""How much of its end is read."""


class Log:
    """The file that a worker's standard output and standard error go to.

    Args:
        path: where it is; the worker makes it.
    """

    def __init__(self, path: Path):
        self.path = path

    def tail(self, lines: int) -> str:
        """The last lines."""
        if not self.path.exists():
            return ""
        with self.path.open("rb") as file:
            file.seek(max(0, self.path.stat().st_size - END))
            return "\n".join(file.read().decode(errors="replace").splitlines()[-lines:])

    def trim(self) -> None:
        """Empty it if it is too long: the worker appends, so it goes on from the start."""
        if self.path.exists() and self.path.stat().st_size > LONGEST:
            os.truncate(self.path, 0)
