"""The wrong side keeps or drops the last, incomplete window of a pooling."""

from __future__ import annotations

from typing import Any, Iterator

from minrepro.diagnose.predict import by_argument
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
        spatial = int(node.op[-2]) if node.op[-2:] in ("1d", "2d", "3d") else 0
        kernel, padding = (_each(node.args.get(name), spatial) for name in ("kernel_size", "padding"))
        stride = _each(node.args.get("stride"), spatial) or kernel
        if not spatial or not kernel or not stride or len(x.shape) <= spatial:
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


def _each(value: Any, spatial: int) -> tuple[int, ...]:
    """A size for each axis of the image."""
    sizes = (value,) if isinstance(value, int) else value
    return tuple(sizes) * (spatial if len(sizes) == 1 else 1) if isinstance(sizes, tuple) and sizes else ()
