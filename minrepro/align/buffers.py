"""Buffers that no state carries: each side computes its own (schedules, tables of positions), maybe otherwise.

Nothing has to be carried over and no forward has to read the wrong element: the values are there to be compared.
"""

from __future__ import annotations

import numpy as np

from minrepro.align.judging import half_alike
from minrepro.align.pairing import Pairing
from minrepro.align.seat import Seat
from minrepro.ir.tensor import Tensor

FILL = -1e4
"""Whatever lies below it masks a softmax: minus infinity here and a large number there are the same."""


def compare(reference: Seat, candidate: Seat, pairing: Pairing) -> list[tuple[str, str, tuple[int, ...], str]]:
    """Compare the port's unsaved buffers with the reference's buffers of the same name in paired modules.

    Returns:
        (port's name, reference's name, shape, sentence) of those that differ.
    """
    theirs = {entry["key"]: entry for entry in reference.ask("buffers")}
    mine = {entry["key"]: entry for entry in candidate.ask("buffers") if not entry["saved"]}
    paths = {port: path for path, port in pairing.modules.items()}
    pairs = []
    for key, entry in mine.items():
        owner, _, name = key.rpartition(".")
        source = f"{paths[owner]}.{name}".lstrip(".") if owner in paths else ""
        if source in theirs:
            pairs.append((key, source, entry["var"], theirs[source]["var"]))
    left = reference.fetch([source for *_, source in pairs])
    right = candidate.fetch([var for _, _, var, _ in pairs])
    found = []
    for key, source, var, other in pairs:
        told = difference(left[other], right[var])
        if told:
            found.append((key, source, right[var].shape, f"the port computes its buffer {key} otherwise: {told}"))
    return found


def difference(x: Tensor, y: Tensor) -> str:
    """What is different about two buffers, or ``""``: rounding may take half of their digits."""
    if x.dtype.inexact != y.dtype.inexact:
        return ""  # another kind of mask, which its reader understands
    if x.shape != y.shape:
        return f"{list(x.shape)} on the reference, {list(y.shape)} on the port"
    a, b = x.values.astype(np.float64), y.values.astype(np.float64)
    roundoff = max(x.dtype.roundoff, y.dtype.roundoff) if x.dtype.inexact else 0.0
    same = half_alike(a, b, roundoff) | ((a <= FILL) & (b <= FILL))
    if same.all():
        return ""
    index = tuple(int(i) for i in np.unravel_index(int(np.argmin(same)), same.shape))
    return f"{list(index)} is {a[index]:g} on the reference and {b[index]:g} on the port"
