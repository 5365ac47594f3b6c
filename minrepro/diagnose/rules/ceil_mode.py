"""The wrong side keeps or drops the last, incomplete window of a pooling."""

from __future__ import annotations

from typing import Iterator

from minrepro.diagnose.predict import by_argument, per_axis
from minrepro.diagnose.scene import Scene
from minrepro.ir.reduction import Probe

CAUSE = "ceil_mode"
SENTENCE = "the last window of a pooling, which is not full, is kept or dropped the other way"
WEIGHT = 8


def probes(scene: Scene) -> Iterator[Probe]:
    """The other rounding must give the wrong answer; or a window more, that would lie in the padding, its shape."""
    found = list(by_argument(scene, "ceil_mode", lambda node, flag: [not flag]))
    yield from found if found and found[0].confirmed else list(_past_the_end(scene)) or found


def _past_the_end(scene: Scene) -> Iterator[Probe]:
    for node, rounded in scene.arguments("ceil_mode"):
        x, actual = scene.tensor(node, "self"), scene.actual
        if scene.symptom != "shape" or not rounded or x is None or actual is None:
            continue
        kernel, padding = (per_axis(node, node.args.get(name)) for name in ("kernel_size", "padding"))
        spatial, stride = len(kernel), per_axis(node, node.args.get("stride")) or kernel
        if not spatial or len(x.shape) <= spatial:
            continue
        border = padding or (0,) * spatial
        sizes = (
            -(-(size + 2 * p - k) // s) + 1 for size, p, k, s in zip(x.shape[-spatial:], border, kernel, stride)
        )
        shape = (*x.shape[:-spatial], *sizes)
        yield Probe(
            "the shape with every window that starts within the padding", str(list(shape)), str(list(actual.shape)),
            shape == actual.shape,
        )
