"""Runs a plan on several lanes at once.

A lane is a thread with worker processes of its own, so two lanes use two cores. It takes an operator, evaluates all
its cases, and ends its sessions; if one of them does not end cleanly, every case of that operator is asked again alone.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from pathlib import Path

import msgspec

from minrepro.sweep.backward import MODE
from minrepro.sweep.journal import Journal, Record, name
from minrepro.sweep.lane import Finding, Lane
from minrepro.sweep.plan import Item, case_of

__all__ = ["Record", "Sweep"]


class Sweep:
    """One sweep in one folder.

    Args:
        reference, candidate: backend specs.
        folder: holds ``answers.jsonl`` and the logs of the workers; an earlier sweep there is continued.
        jobs: lanes.
        deadline_s: time one evaluation may take.
    """

    def __init__(self, reference: str, candidate: str, folder: Path, jobs: int = 2, deadline_s: float = 20.0):
        self.reference, self.candidate, self.folder = reference, candidate, folder
        self.jobs, self.deadline_s = jobs, deadline_s
        folder.mkdir(parents=True, exist_ok=True)
        self.journal = Journal(folder / "answers.jsonl")
        self.versions: dict[str, str] = {}
        self.records: list[Record] = []
        self.asked = 0
        self._stop = threading.Event()

    def run(self, items: Sequence[Item], say: Callable[[int, str], None] = lambda done, op: None) -> list[Record]:
        """Evaluate every item that has no answer yet.

        Args:
            items: the plan.
            say: called with the number of answers so far and the operator in hand.

        Returns:
            The answers, in the order of the plan. After a KeyboardInterrupt `records` has those there were.
        """
        waiting: queue.SimpleQueue[list[Item]] = queue.SimpleQueue()
        for _, batch in groupby(items, key=lambda item: item.op):
            waiting.put(list(batch))
        pool = ThreadPoolExecutor(self.jobs, "lane")
        gradients = any(item.mode == MODE for item in items)
        running = [pool.submit(self._lane, waiting, gradients, say) for _ in range(self.jobs)]
        try:
            for lane in running:
                lane.result()
        except BaseException:
            self._stop.set()
            raise
        finally:
            # The lanes end after the case in hand and stop their workers themselves.
            pool.shutdown(wait=True)
            self.journal.close()
            place = {item: position for position, item in enumerate(items)}
            self.records.sort(key=lambda record: place[record.item])
        return self.records

    def _lane(
        self, waiting: queue.SimpleQueue[list[Item]], gradients: bool, say: Callable[[int, str], None]
    ) -> None:
        lane = Lane(self.reference, self.candidate, self.folder, self.deadline_s)
        try:
            lane.start(gradients)
            self.versions = versions = lane.versions()
            while not self._stop.is_set():
                try:
                    batch = waiting.get_nowait()
                except queue.Empty:
                    return
                self._batch(lane, batch, versions, say)
        finally:
            lane.stop()

    def _batch(self, lane: Lane, batch: Iterable[Item], versions: dict[str, str], say) -> None:
        fresh: list[tuple[Item, str]] = []
        found: dict[str, tuple[Finding, int]] = {}
        for item in batch:
            if self._stop.is_set():
                return
            case = case_of(item, self.reference, self.candidate)
            key = name(case, versions, lane.texts(item, case), item.mode)
            if key in self.journal.known:
                # Two items may be the same case: a sample that repeats another one in another dtype.
                self._count(self.journal.known[key], item, say)
                continue
            fresh.append((item, key))
            found[key] = lane.evaluate(item, case), case.elements
        if lane.finish():
            again = [(item, key) for item, key in fresh if not self._stop.is_set()]
            found = {
                key: (lane.isolated(item, case), case.elements)
                for item, key in again
                for case in [case_of(item, self.reference, self.candidate)]
            }
        for item, key in fresh:
            if key in found:
                finding, size = found[key]
                record = Record(
                    key, item, finding.comparison, finding.signature, size, finding.pinned, finding.legal
                )
                self.journal.add(record)
                self.asked += 1
                self._count(record, item, say)

    def _count(self, record: Record, item: Item, say) -> None:
        self.records.append(record if record.item == item else msgspec.structs.replace(record, item=item))
        say(len(self.records), item.op)
