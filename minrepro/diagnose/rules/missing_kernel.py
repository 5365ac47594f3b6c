"""The wrong side has no kernel for this operator on this device or dtype."""

from __future__ import annotations

import re
from typing import Iterator

import numpy as np

from minrepro.diagnose.scene import Scene
from minrepro.ir.dtype import DType, dtype
from minrepro.ir.outcome import Raised
from minrepro.ir.reduction import Probe
from minrepro.ir.tensor import Tensor

CAUSE = "missing kernel"
SENTENCE = "there is no kernel for this operator on this device or dtype"
WEIGHT = 8

SAYS = re.compile(
    r"not (been )?(implemented|registered|supported)|no kernel|unimplemented|kernel .* not found", re.IGNORECASE
)
DTYPES = ("float32", "float64", "int64")


def probes(scene: Scene) -> Iterator[Probe]:
    """The message must say so, and the values must not matter."""
    outcome = scene.reference if scene.reversed else scene.candidate
    if scene.symptom != "exception" or not isinstance(outcome, Raised):
        return
    found = SAYS.search(outcome.message) or SAYS.search(outcome.kind)
    yield Probe("the message", "that nothing is implemented", found.group() if found else "something else", bool(found))
    if found:
        again = scene.run(scene.with_feeds(_zeros), scene.wrong)
        refused = isinstance(again, Raised) and again.kind == outcome.kind
        taken = [name for name in DTYPES if _taken(scene, dtype(name))]
        more = f"; taken in {', '.join(taken)}" if taken else "; no other dtype is taken"
        yield Probe("zeros in every input", "the same exception", type(again).__name__.lower() + more, refused)


def _zeros(tensor: Tensor) -> Tensor:
    return tensor.with_base(np.zeros_like(tensor.base))


def _taken(scene: Scene, to: DType) -> bool:
    floats = [tensor for tensor in scene.feeds.values() if tensor.dtype.kind in ("float", "int", "uint")]
    if not floats or all(tensor.dtype == to for tensor in floats):
        return False
    return scene.cured(scene.with_feeds(lambda t: t.cast(to), lambda t: t.dtype == floats[0].dtype))
