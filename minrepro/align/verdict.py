"""The verdict on a whole alignment: the gravest of its rows, and the exit status that goes with it."""

from __future__ import annotations

from minrepro.align import Aligned

EXIT = {
    "clean": 0, "arithmetic": 0, "policy": 0, "draw": 1, "unexplained": 1, "port": 1, "converter": 1, "unpaired": 1,
    "framework": 1, "exception": 1, "crash": 1, "hang": 1,
}
"""Exit status by verdict: 0 where nothing is wrong with port, weights or framework."""


def verdict(found: Aligned) -> str:
    """The word for an alignment.

    A port that raises, dies or hangs comes first, since nothing after it was compared; then the framework's faults, the
    converter's, the port's; then what kept the comparison from being one.
    """
    if found.failure is not None:
        died = "hang" if found.failure.get("hang") else "crash"
        return "exception" if found.failure["kind"] == "raised" else died
    kinds = {row.verdict for row in found.rows} | {row.gradient for row in found.rows} | _training(found)
    blamed = {entry.blame for entry in found.entries}
    if "framework" in kinds | blamed:
        return "framework"
    if "converter" in blamed:
        return "converter"
    if "pairing" in blamed:
        return "unpaired"
    kinds |= blamed & {"port"}
    for kind, word in (("port", "port"), ("setting", "port"), ("draw", "draw"), ("unexplained", "unexplained"),
                       ("policy", "policy"), ("arithmetic", "arithmetic")):
        if kind in kinds:
            return word
    return "clean"


def _training(found: Aligned) -> set[str]:
    """Verdicts of whole steps: a gradient that no single call explains, or an optimiser, was set up by the port."""
    return {"port" for item in found.trained if item.comparison.verdict == "diverges"}
