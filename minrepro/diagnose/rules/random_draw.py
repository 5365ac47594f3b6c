"""The wrong side draws random numbers where none are due, or draws them without the seed."""

from __future__ import annotations

from typing import Iterator

import msgspec

from minrepro.diagnose.scene import Scene
from minrepro.ir.reduction import Probe
from minrepro.ir.tensor import Tensor

CAUSE = "random draw not pinned"
SENTENCE = "the result follows the random generator's seed where nothing random is due"
WEIGHT = 9
FLAKY = True

SEEDS = 3


def probes(scene: Scene) -> Iterator[Probe]:
    """One seed must give one answer, several seeds several answers, on the wrong side alone."""
    if scene.symptom not in ("value", "nonfinite"):
        return
    cases = [msgspec.structs.replace(scene.case, seed=scene.case.seed + number) for number in range(SEEDS)]
    seen = [scene.value(scene.run(case, scene.wrong)) for case in cases]
    again = [scene.value(scene.run(case, scene.wrong, attempt=1)) for case in cases]
    if any(value is None for value in (*seen, *again)):
        return
    different = distinct(seen)
    yield Probe(f"{SEEDS} seeds", "more than one answer", f"{different} answers", different > 1)
    if different > 1:
        good = all(one == other for one, other in zip(seen, again))
        yield Probe("each seed twice", "the same answer", "the same" if good else "different", good)


def distinct(values: list[Tensor | None]) -> int:
    """How many different values there are, bit by bit."""
    return len({value.view.tobytes() for value in values if value is not None})
