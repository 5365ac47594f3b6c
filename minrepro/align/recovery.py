"""Does the port come to the value after all? A residual may be added by the caller, a transpose undone behind the part."""

from __future__ import annotations

from typing import Collection

import numpy as np

from minrepro.align.draws import Draws
from minrepro.align.glue.trace import close
from minrepro.align.lockstep import Lockstep
from minrepro.align.passing import Passes
from minrepro.align.seams import Opened, Seam


def recovered(passes: Passes, opened: Opened, units: Collection[int], maker: int) -> set[int]:
    """Those parts of a unit whose value in the reference the port's code around them comes to.

    That all comes out right in the end is not enough: a mean over the image also hides that it was turned.

    Args:
        passes: runs both models.
        opened: units left to themselves, the parts among them.
        units: numbers of the parts.
        maker: number of the unit that calls them, whose source is stepped through.
    """
    seat, name = passes.candidate, passes.pairing.units[maker].candidate
    due: dict[int, list[np.ndarray]] = {}
    own: list[np.ndarray] = []

    def seen(seam: Seam) -> None:
        if seam.unit in units and seam.part == "out":
            due.setdefault(seam.unit, [np.ascontiguousarray(tensor.view) for tensor in seam.reference])
            own.extend(tensor.view for tensor in seam.others.get("candidate", ()) if tensor is not None)

    if "why" in seat.ask("follow", unit=name):
        return set()
    lockstep = Lockstep(
        passes.reference, seat, passes.pairing, (), seen, Draws(passes.injected), passes.progress, opened=opened)
    lockstep.followers = [lockstep.candidate]
    try:
        lockstep.run()
        # What another part returns is not made by the code around: the two hold each other's weights.
        made = [value for value in _values(passes) if not any(_same(value, other) for other in own)]
    finally:
        lockstep.stop()
        if seat.side.worker.ready:
            seat.ask("leave", unit=name)
    return {unit for unit, wanted in due.items() if all(any(_same(value, one) for value in made) for one in wanted)}


def _values(passes: Passes) -> list[np.ndarray]:
    """All values that the code which was stepped through has made."""
    found = []
    for number in range(len(passes.candidate.ask("calls"))):
        _, tensors = passes.candidate.exchange("values", {}, call=number)
        found += [np.ascontiguousarray(tensor.view) for tensor in tensors.values() if tensor.dtype.name != "bfloat16"]
    return found


def _same(value: np.ndarray, wanted: np.ndarray) -> bool:
    return value.shape == wanted.shape and value.dtype == wanted.dtype and bool(close(value, wanted))
