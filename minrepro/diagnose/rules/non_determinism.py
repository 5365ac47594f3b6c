"""The wrong side answers differently from run to run, with the same seed and the same memory."""

from __future__ import annotations

from typing import Iterator

from minrepro.diagnose.rules.random_draw import distinct
from minrepro.diagnose.scene import Scene
from minrepro.ir.reduction import Probe

CAUSE = "non-determinism"
SENTENCE = "the result differs from run to run with everything pinned"
WEIGHT = 8
FLAKY = True
IMPLIED_BY = ("uninitialised memory", "random draw not pinned")

RUNS = 5


def probes(scene: Scene) -> Iterator[Probe]:
    """Several runs must give several answers on the wrong side, and one on the right side."""
    if scene.rate is not None:
        yield Probe(f"{scene.rate.runs} runs of the case", "some show it and some do not",
                    f"{scene.rate.matches} show it", 0 < scene.rate.matches < scene.rate.runs)
        return
    if scene.symptom not in ("value", "nonfinite"):
        return
    seen = [scene.value(scene.run(scene.case, scene.wrong, attempt=number)) for number in range(RUNS)]
    if any(value is None for value in seen):
        return
    different = distinct(seen)
    yield Probe(f"{RUNS} runs of the wrong side", "more than one answer", f"{different} answers", different > 1)
    if different > 1:
        right = distinct([scene.value(scene.run(scene.case, scene.right, attempt=number)) for number in range(RUNS)])
        yield Probe(f"{RUNS} runs of the right side", "one answer", f"{right} answers", right == 1)
