"""The wrong side's result is right, but cut off from its input: no gradient comes back, or zeros whatever goes in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from minrepro.diagnose.scene import Scene
from minrepro.ir.dtype import from_float64, to_float64
from minrepro.ir.outcome import Completed, Outcome, Raised
from minrepro.ir.reduction import Probe
from minrepro.ir.tensor import Tensor

CAUSE = "gradient cut"
SENTENCE = "the result is right but cut off from its input: no gradient comes back, or nothing but zeros"
WEIGHT = 8

SYMPTOMS = ("structure", "value", "exception")
SAYS = re.compile(r"does not require grad\b", re.IGNORECASE)
"""Text by which a framework says that what it should differentiate is cut off from everything."""


def probes(scene: Scene) -> Iterator[Probe]:
    """The step itself must be right, and other values must have no gradient either."""
    step = scene.undifferentiated()
    outcome = scene.reference if scene.reversed else scene.candidate
    if step is None or scene.symptom not in SYMPTOMS or not _lost(scene, outcome):
        return
    verdict = scene.retry(step).verdict
    yield Probe("the step itself", "both sides agree", f"verdict {verdict}", verdict in ("same", "arithmetic"))
    if verdict in ("same", "arithmetic"):
        other = scene.run(scene.with_feeds(nearer, lambda t: t.dtype.kind == "float"), scene.wrong)
        none = _lost(scene, other)
        yield Probe("other values in every input", "no gradient", "no gradient" if none else "a gradient", none)


def _lost(scene: Scene, outcome: Outcome) -> bool:
    """True if the wrong side has no gradient, or zeros, or nothing to send a gradient back from."""
    if isinstance(outcome, Raised):
        return bool(SAYS.search(outcome.message))
    value = scene.value(outcome)
    return isinstance(outcome, Completed) and (value is None or _zeros(value))


def _zeros(tensor: Tensor) -> bool:
    return tensor.dtype.inexact and tensor.size > 0 and not tensor.values.any()


def nearer(tensor: Tensor) -> Tensor:
    """Half of each value and an eighth: what lies between 0 and 1 stays there."""
    return tensor.with_base(from_float64(to_float64(tensor.base, tensor.dtype) / 2.0 + 0.125, tensor.dtype))
