"""Which side is wrong, when three float64 runs may disagree: the reference's, NumPy's and the candidate's own.

The reference is trusted first and never blindly. Each float64 result that is close to one side and far from the other
has a vote; NumPy, which shares code with neither, has two.
"""

from __future__ import annotations

from typing import Callable, Sequence

import numpy as np

Near = Callable[[np.ndarray, np.ndarray], bool]
"""Is this side's value as close to this float64 value as its dtype allows?"""


def blame(
    x: np.ndarray,
    y: np.ndarray,
    own: np.ndarray | None,
    second: np.ndarray | None,
    wide: Callable[[], np.ndarray | None],
    near: Near,
) -> tuple[str, np.ndarray | None]:
    """Decide who is wrong.

    Args:
        x, y: what reference and candidate answered.
        own, second: float64 results of the reference and of NumPy, if there are any.
        wide: the candidate's float64 result; asked for only if the others do not settle it.
        near: decides whether an answer is right if a float64 result is.

    Returns:
        ``candidate``, ``reference``, ``both`` or ``unknown``, and the float64 result that says so.
    """
    good = [t for t in (second, own) if t is not None and t.shape == x.shape]
    for truth in good[:1] if second is not None else []:
        side = _one(x, y, truth, near)
        if side in ("candidate", "reference"):
            return side, truth
    third = wide()
    opinions: list[tuple[int, np.ndarray]] = [
        (weight, t) for weight, t in ((2, second), (1, own), (1, third)) if t is not None and t.shape == x.shape
    ]
    votes = {"candidate": 0, "reference": 0}
    for weight, truth in opinions:
        side = _one(x, y, truth, near)
        if side in votes:
            votes[side] += weight
    if votes["candidate"] or votes["reference"]:
        # Each side's float64 run on its own side: two definitions, and the reference's is the one that was asked for.
        side = "reference" if votes["reference"] > votes["candidate"] else "candidate"
        return side, next(t for _, t in opinions if _one(x, y, t, near) == side)
    agreed = _consensus(opinions, near)
    return ("both", agreed) if agreed is not None else ("unknown", None)


def _one(x: np.ndarray, y: np.ndarray, truth: np.ndarray, near: Near) -> str:
    good_x, good_y = near(x, truth), near(y, truth)
    if good_x == good_y:
        return "both" if not good_x else ""
    return "candidate" if good_x else "reference"


def _consensus(opinions: Sequence[tuple[int, np.ndarray]], near: Near) -> np.ndarray | None:
    """A float64 result that another one confirms, or the only one there is."""
    if len(opinions) == 1:
        return opinions[0][1]
    for position, (_, one) in enumerate(opinions):
        if any(near(one, other) for _, other in opinions[position + 1 :]):
            return one
    return None
