"""Does the port come to the value after all? A residual may be added by the caller, a transpose undone behind the part."""

from __future__ import annotations

from itertools import permutations
from typing import Collection, Sequence

import numpy as np

from minrepro.align.draws import Draws
from minrepro.align.glue.trace import close
from minrepro.align.lockstep import Lockstep
from minrepro.align.passing import Passes
from minrepro.align.seams import Opened, Seam

AXES = 4
"""Axes up to which every order of them is looked at."""


def recovered(passes: Passes, opened: Opened, units: Collection[int], makers: Sequence[int]) -> set[int]:
    """Those units whose value in the reference the port's code around them comes to.

    That all comes out right in the end is not enough: a mean over the image also hides that it was turned.

    Args:
        passes: runs both models.
        opened: units left to themselves, the parts among them.
        units: their numbers.
        makers: numbers of the units that call them, whose source is stepped through.
    """
    seat, names = passes.candidate, [passes.pairing.units[maker].candidate for maker in makers]
    between = _between(passes, units)
    due: dict[int, list[np.ndarray]] = {}
    own: list[np.ndarray] = []

    def seen(seam: Seam) -> None:
        if seam.unit in units and seam.part == "out":
            due.setdefault(seam.unit, [np.ascontiguousarray(tensor.view) for tensor in seam.reference])
            own.extend(tensor.view for tensor in seam.others.get("candidate", ()) if tensor is not None)

    followed = [
        name for name in [*names, *between] if "why" not in seat.ask("follow", unit=name, bare=name in between)
    ]
    if not followed:
        return set()
    lockstep = Lockstep(
        passes.reference, seat, passes.pairing, (), seen, Draws(passes.injected), passes.progress, opened=opened, free=False)
    try:
        lockstep.run()
        # What another part returns is not made by the code around: the two hold each other's weights.
        made = [value for value in _values(passes) if not any(_same(value, other) for other in own)]
    finally:
        lockstep.stop()
        for name in followed if seat.side.worker.ready else ():
            seat.ask("leave", unit=name, bare=name in between)
    return {unit for unit, wanted in due.items() if all(any(_same(value, one) for value in made) for one in wanted)}


def _between(passes: Passes, units: Collection[int]) -> list[str]:
    """Modules of the port without a partner that hold these units: the code around them may be theirs."""
    paired = {unit.candidate for unit in passes.pairing.units}
    above = {path[:place] for unit in units for path in [passes.pairing.units[unit].candidate]
             for place, letter in enumerate(path) if letter == "."}
    return sorted(path for path in above - paired if passes.trees[1][path].source is not None)


def _values(passes: Passes) -> list[np.ndarray]:
    """All values that the code which was stepped through has made; what it was given may have been put right."""
    found = []
    for number, call in enumerate(passes.candidate.ask("calls")):
        answer, tensors = passes.candidate.exchange("values", {}, call=number)
        made = [item["var"] for item in answer["values"] if call["nodes"][item["number"]]["kind"] != "input"]
        found += [np.ascontiguousarray(tensors[name].view) for name in made if tensors[name].dtype.name != "bfloat16"]
    return found


def _same(value: np.ndarray, wanted: np.ndarray) -> bool:
    """True for the same value, its axes in any order."""
    if value.ndim != wanted.ndim or value.ndim > AXES or sorted(value.shape) != sorted(wanted.shape):
        return False
    orders = permutations(range(value.ndim))
    return any(close(np.ascontiguousarray(value.transpose(order)), wanted) for order in orders)
