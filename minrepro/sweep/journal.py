"""Answers on disk, one line each, written before they are used: a killed sweep loses the operators in hand at most."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from minrepro.ir import codec
from minrepro.ir.case import Case
from minrepro.ir.divergence import Comparison
from minrepro.ir.reduction import Diagnosis
from minrepro.ir.signature import Signature
from minrepro.sweep.backward import Pinned
from minrepro.sweep.plan import Item


class Record(msgspec.Struct, frozen=True):
    """One answer.

    Attributes:
        key: digest of case and versions.
        item: name of the case.
        comparison: the judgement.
        signature: identity of the divergence, if there is one.
        size: elements of the case, to find the smallest of a group without building it.
        pinned: what a gradient step looks like, to build it without running anything.
        legal: the documented difference or the setting that explains the divergence.
    """

    key: str
    item: Item
    comparison: Comparison
    signature: Signature | None
    size: int
    pinned: Pinned | None = None
    legal: Diagnosis | None = None


def name(case: Case, versions: Mapping[str, str], texts: Sequence[str], mode: str = "forward") -> str:
    """Digest of a case, of what the sides run for it and of what they are: the same question has the same answer."""
    plain = msgspec.structs.replace(case, reference="", candidate="", mode=mode)
    text = codec.encode(plain) + json.dumps([sorted(versions.items()), *texts]).encode()
    return hashlib.sha256(text).hexdigest()[:24]


class Journal:
    """An append-only file of `Record`s; a torn last line, as a killed process leaves it, is ignored."""

    def __init__(self, path: Path):
        self.path = path
        self.known: dict[str, Record] = {}
        self._lock = threading.Lock()
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        for line in text.splitlines():
            try:
                record = codec.from_plain(json.loads(line), Record)
            except ValueError:
                continue
            self.known[record.key] = record
        self._file = path.open("a", encoding="utf-8")
        if text and not text.endswith("\n"):
            self._file.write("\n")

    def add(self, record: Record) -> None:
        """Write an answer, then know it."""
        line = json.dumps(codec.plain(record))
        with self._lock:
            self._file.write(line + "\n")
            self._file.flush()
            self.known[record.key] = record

    def close(self) -> None:
        """Close the file."""
        self._file.close()
