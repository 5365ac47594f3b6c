"""The wrong side's result is right, but cut off from its input: no gradient comes back, or zeros whatever goes in."""

from __future__ import annotations

from collections.abc import Iterator

from minrepro.diagnose.scene import Scene
from minrepro.ir.dtype import from_float64, to_float64
from minrepro.ir.outcome import Completed
from minrepro.ir.reduction import Probe
from minrepro.ir.tensor import Tensor

CAUSE = "gradient cut"
SENTENCE = "the result is right but cut off from its input: no gradient comes back, or nothing but zeros"
WEIGHT = 8


def probes(scene: Scene) -> Iterator[Probe]:
    """The step itself must be right, and other values must have no gradient either."""
    found = scene.divergence
    lost = (found.reference if scene.reversed else found.candidate) == "no gradient"
    step = scene.undifferentiated()
    if step is None or not (scene.symptom == "structure" and lost or scene.symptom == "value" and _zeros(scene.actual)):
        return
    verdict = scene.retry(step).verdict
    yield Probe("the step itself", "both sides agree", f"verdict {verdict}", verdict in ("same", "arithmetic"))
    if verdict in ("same", "arithmetic"):
        other = scene.run(scene.with_feeds(nearer, lambda t: t.dtype.kind == "float"), scene.wrong)
        value = scene.value(other)
        none = isinstance(other, Completed) and (value is None or _zeros(value))
        yield Probe("other values in every input", "no gradient", "no gradient" if none else "a gradient", none)


def _zeros(tensor: Tensor | None) -> bool:
    return tensor is not None and tensor.dtype.inexact and tensor.size > 0 and not tensor.values.any()


def nearer(tensor: Tensor) -> Tensor:
    """Half of each value and an eighth: what lies between 0 and 1 stays there."""
    return tensor.with_base(from_float64(to_float64(tensor.base, tensor.dtype) / 2.0 + 0.125, tensor.dtype))
