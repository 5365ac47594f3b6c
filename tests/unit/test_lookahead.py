"""The next answer is under way while the last one is used, and nothing else changes."""

from __future__ import annotations

import threading
import time

import pytest

from minrepro.localise.lookahead import looking_ahead


class Stopped:
    """A worker that only knows if it was stopped."""

    def __init__(self) -> None:
        self.over = threading.Event()

    def stop(self) -> None:
        self.over.set()


def test_answers_come_in_order_and_in_two_files_by_turns() -> None:
    worker, asked = Stopped(), []

    def ask(item: int, slot: str) -> tuple[int, str]:
        asked.append(item)
        return item * 10, slot

    with looking_ahead(worker, range(5), ask) as steps:
        found = list(steps)
    assert [(item, answer) for item, (answer, _) in found] == [(i, i * 10) for i in range(5)]
    slots = [slot for _, (_, slot) in found]
    assert all(slot and slot != after for slot, after in zip(slots, slots[1:])), slots
    assert asked == list(range(5)) and not worker.over.is_set()


def test_the_next_is_asked_for_before_the_last_is_dealt_with_and_no_further() -> None:
    asked, second = [], threading.Event()

    def ask(item: int, slot: str) -> int:
        asked.append(item)
        if item == 1:
            second.set()
        return item

    with looking_ahead(Stopped(), range(4), ask) as steps:
        assert next(steps) == (0, 0)
        assert second.wait(5.0)
        time.sleep(0.05)
        assert asked == [0, 1]
        assert list(steps) == [(1, 1), (2, 2), (3, 3)]


def test_a_failure_comes_when_it_is_its_turn() -> None:
    def ask(item: int, slot: str) -> int:
        if item == 1:
            raise ValueError("lost")
        return item

    seen = []
    with pytest.raises(ValueError, match="lost"), looking_ahead(Stopped(), range(3), ask) as steps:
        for item, _ in steps:
            time.sleep(0.05)
            seen.append(item)
    assert seen == [0]


def test_who_leaves_early_does_not_wait_for_an_answer() -> None:
    worker = Stopped()

    def ask(item: int, slot: str) -> int:
        assert item == 0 or worker.over.wait(30.0)
        return item

    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt), looking_ahead(worker, range(3), ask) as steps:
        for _ in steps:
            raise KeyboardInterrupt
    assert worker.over.is_set() and time.monotonic() - start < 10.0


def test_nothing_to_ask() -> None:
    with looking_ahead(Stopped(), (), lambda item, slot: item) as steps:
        assert list(steps) == []
