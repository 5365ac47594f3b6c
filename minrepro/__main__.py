"""``minrepro`` and ``python -m minrepro``: Ctrl-C is answered in one line from the first moment on."""

from __future__ import annotations

import os
import signal
from types import FrameType


def main() -> None:
    """Entry point."""
    watched = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # else somebody else has a say in it
    if watched:
        signal.signal(signal.SIGINT, _early)
    from minrepro.cli import main as run

    if watched:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


def _early(number: int, frame: FrameType | None) -> None:
    """Leave while the imports are still on: an exception in one of them would end in a traceback, or nowhere."""
    os.write(2, b"minrepro: interrupted before anything was begun\n")
    os._exit(130)


if __name__ == "__main__":
    main()
