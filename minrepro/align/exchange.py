"""Is it the port's code, or did the converter give its layers each other's weights? Exchange them and see.

Where a layer was only recognised by the values that the converter gave it, a converter that mixes up key and value looks
like a port that does. The two differ in an experiment: with the weights exchanged the same code is right.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Mapping, Sequence

import msgspec

from minrepro.align.experiment import kind
from minrepro.align.findings import Row, Table
from minrepro.align.loading import Entry, Loader
from minrepro.align.passing import Passes
from minrepro.align.seams import Opened
from minrepro.align.seat import Seat

MOST = 10
"""Exchanges that are tried for one kind of unit."""


class Move(msgspec.Struct, frozen=True):
    """The value that an entry gets: another entry's, or its own transposed."""

    key: str
    source: str
    turned: bool = False


def mended(passes: Passes, opened: Opened, candidate: Seat, loader: Loader, table: Table, entries: Sequence[Entry]) -> None:
    """Blame the converter for the units whose code is right once some of their weights are exchanged.

    Args:
        passes: runs both models.
        opened: parts with another interface.
        candidate: the port's session.
        loader: knows which entries were only recognised by their values.
        table, entries: what was found; rows and entries get their verdict here.
    """
    kinds: dict[tuple[str, ...], list[Row]] = {}
    for row in table.rows:
        if row.verdict == "port" and row.first is not None:
            kinds.setdefault(kind(row), []).append(row)
    known = {entry.key: entry for entry in entries if entry.key}
    for rows in kinds.values():
        for moves in _choices(loader, known, rows[0])[:MOST]:
            every = [_moved(move, _place(rows[0]), _place(row)) for row in rows for move in moves]
            if all(move.key in known and move.source in known for move in every) and _right(
                    passes, opened, candidate, [table.rows.index(row) for row in rows], every):
                _blame(rows, every, known)
                break
        else:
            _doubt(loader, known, rows)


def _choices(loader: Loader, known: Mapping[str, Entry], row: Row) -> list[list[Move]]:
    """What could have been mixed up in a unit: two of its layers, or the sides of a square matrix; the likeliest first."""
    place = _place(row)
    inside = [key for key in sorted(loader.guessed) if key in known and (not place or key.startswith(f"{place}."))]
    layers: dict[str, dict[str, tuple[int, ...]]] = {}
    for key in inside:
        owner, _, name = key.rpartition(".")
        layers.setdefault(owner, {})[name] = known[key].shape
    pairs = [(a, b) for a, b in combinations(layers, 2) if layers[a] == layers[b]]
    pairs.sort(key=lambda pair: not _sources(known, pair[0], layers) & _sources(known, pair[1], layers))
    found = [
        [Move(f"{one}.{name}", f"{two}.{name}") for name in layers[a] for one, two in ((a, b), (b, a))] for a, b in pairs
    ]
    held = [(owner, a, b) for owner, own in layers.items() for a, b in combinations(own, 2) if own[a] == own[b]]
    found += [[Move(f"{owner}.{one}", f"{owner}.{two}") for one, two in ((a, b), (b, a))] for owner, a, b in held]
    square = [key for key in inside if len(known[key].shape) == 2 and len(set(known[key].shape)) == 1 and key in loader.free]
    return found + [[Move(key, key, True)] for key in square]


def _sources(known: Mapping[str, Entry], owner: str, layers: Mapping[str, Mapping[str, tuple[int, ...]]]) -> set[str]:
    """The entries of the reference that a layer is made of."""
    return {piece.source for name in layers[owner] for piece in known[f"{owner}.{name}"].pieces}


def _right(passes: Passes, opened: Opened, candidate: Seat, units: Sequence[int], moves: Sequence[Move]) -> bool:
    """True if these units err no more with the values exchanged; the port has its own weights again afterwards."""
    told = [msgspec.to_builtins(move) for move in moves]
    candidate.ask("exchange", moves=told)
    try:
        passed = passes.probe(opened)
    finally:
        candidate.ask("exchange", moves=[])
    wrong = [how for how in passed.table.wrong.values() if how.maker in units]
    return passed.failure is None and not wrong


def _doubt(loader: Loader, known: Mapping[str, Entry], rows: Sequence[Row]) -> None:
    """Say of what the weights are made that nothing but their values told, where that could be mixed up."""
    for row in rows:
        place = _place(row)
        fused = [
            known[key] for key in sorted(loader.guessed)
            if key in known and len(known[key].pieces) > 1 and (not place or key.startswith(f"{place}."))
        ]
        if fused:
            told = ", ".join(f"{entry.key} = {' + '.join(map(str, entry.pieces))}" for entry in fused[:2])
            more = f" (+ {len(fused) - 2})" if len(fused) > 2 else ""
            row.note += f" -- unless the converter puts parts of weights in a wrong order: {told}{more}"


def _blame(rows: Sequence[Row], moves: Sequence[Move], known: Mapping[str, Entry]) -> None:
    for row in rows:
        place = _place(row)
        mine = [move for move in moves if not place or move.key.startswith(f"{place}.")]
        for move in mine:
            entry = known[move.key]
            entry.blame, entry.given = "converter", "exchanged"
            gives = f"the converter gives {move.key} {' + '.join(map(str, entry.pieces)) or entry.source}"
            entry.detail = f"{gives}; transposed" if move.turned else f"{gives}; with what it gives {move.source} in its place"
            entry.detail += f" {row.port or 'the port'} agrees"
        largest = max(mine, key=lambda move: math.prod(known[move.key].shape))
        row.verdict = "weights"
        row.note = f"converter: {known[largest.key].detail} (if that is meant, {row.lines[1]} uses one for the other)"


def _place(row: Row) -> str:
    return row.port.partition("::")[0]


def _moved(move: Move, place: str, other: str) -> Move:
    """The same move in another unit of its kind."""
    rest = [name[len(place):].lstrip(".") for name in (move.key, move.source)]
    key, source = (f"{other}.{name}".lstrip(".") for name in rest)
    return Move(key, source, move.turned)
