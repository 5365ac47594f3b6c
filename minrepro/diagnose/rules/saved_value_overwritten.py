"""The gradient of a step that writes to its input is taken at what was written, not at what the input was."""

from __future__ import annotations

from collections.abc import Iterator

from minrepro import ops
from minrepro.diagnose.predict import by_case
from minrepro.diagnose.scene import Scene
from minrepro.ir.case import Case
from minrepro.ir.graph import Ref
from minrepro.ir.outcome import Completed
from minrepro.ir.reduction import Probe
from minrepro.ops.gradient import differentiated

CAUSE = "saved value overwritten"
SENTENCE = "the gradient is taken at the result, which has overwritten the input that was saved for it"
WEIGHT = 8


def probes(scene: Scene) -> Iterator[Probe]:
    """The right gradient at the step's own result must be the wrong answer."""
    yield from by_case(scene, _cases(scene))


def _cases(scene: Scene) -> Iterator[tuple[str, Case]]:
    step = scene.undifferentiated()
    row = ops.find(differentiated(scene.case.graph.nodes[0].op))
    if step is None or row is None:
        return
    made = scene.run(step, scene.right)
    for name in row.mutates:
        arg = step.graph.nodes[0].args.get(name)
        if isinstance(arg, Ref) and isinstance(made, Completed):
            result = made.values[step.graph.outputs[0]]
            before = scene.case.feeds[arg.name]
            if (result.shape, result.dtype) == (before.shape, before.dtype):
                yield f"the gradient where {arg.name} is already the result", scene.with_feed(arg.name, result)
