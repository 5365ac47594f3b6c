"""What a worker printed: nothing of it goes anywhere else, its end is shown, and no flood fills the disk."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

LONGEST = 1 << 26
"""Length at which a log is emptied; a candidate may print without end."""
END = 1 << 14
"""How much of its end is read."""
_CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\].*?(?:\x07|\x1b\\)|\x1b[ -/]*[0-~]?|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


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
            return "\n".join(plain(file.read().decode(errors="replace")).splitlines()[-lines:])

    def trim(self) -> None:
        """Empty it if it is too long: the worker appends, so it goes on from the start."""
        if self.path.exists() and self.path.stat().st_size > LONGEST:
            os.truncate(self.path, 0)


def plain(value: Any) -> Any:
    """What a worker said, nested as JSON is, without the colours and other control sequences that a framework puts in it."""
    if isinstance(value, str):
        return _CONTROL.sub("", value)
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value
