"""What the reference makes for the next step, while the candidate and the verdict are busy with this one.

Two steps are never under way at once on one worker: only the order of waiting changes, and no answer depends on it. The
answers go in turn to two files of the reference, so that the one that is read is not the one that is written.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from minrepro.worker.client import Worker
from minrepro.worker.shared import SLOTS

Item = TypeVar("Item")
Answer = TypeVar("Answer")


@contextlib.contextmanager
def looking_ahead(
    worker: Worker, items: Sequence[Item], ask: Callable[[Item, str], Answer]
) -> Iterator[Iterator[tuple[Item, Answer]]]:
    """Iterate over items and answers; the next answer is asked for before the last one is handed out.

    Args:
        worker: who is asked.
        items: what about.
        ask: asks about an item, with the file that the answer goes to, one of `SLOTS`.
    """
    with ThreadPoolExecutor(1) as pool:

        def each() -> Iterator[tuple[Item, Answer]]:
            for index, item in enumerate(items):
                answer = pending.pop().result()
                pending.extend(pool.submit(ask, after, SLOTS[1 + (index + 1) % 2]) for after in items[index + 1 : index + 2])
                yield item, answer

        pending = [pool.submit(ask, item, SLOTS[1]) for item in items[:1]]
        try:
            yield each()
        except BaseException as error:
            if not isinstance(error, Exception) and not all(future.done() for future in pending):
                worker.stop()  # Ctrl-C: nobody waits for the answer that is under way
            raise
