"""The commonest experiment: "the wrong side answers what the right side answers to another question".

Each function makes one probe out of several alternatives: confirmed by the first that explains the answer, refuted if
none does; nothing if there is no alternative.
"""

from __future__ import annotations

from typing import Any, Callable, Iterable, Iterator

import numpy as np

from minrepro.diagnose.scene import Scene
from minrepro.ir.case import Case
from minrepro.ir.graph import Node, show
from minrepro.ir.reduction import Probe

SHOWN = 6
"""Alternatives that a refuted probe lists."""


def per_axis(node: Node, value: Any) -> tuple[int, ...]:
    """An argument of a pooling as a size for each axis of the image; empty where there is none."""
    if node.op[-2:] not in ("1d", "2d", "3d"):
        return ()
    sizes = (value,) if isinstance(value, int) else value
    return tuple(sizes) * (int(node.op[-2]) if len(sizes) == 1 else 1) if isinstance(sizes, tuple) and sizes else ()


def by_argument(scene: Scene, parameter: str, others: Callable[[Node, Any], Iterable[Any]]) -> Iterator[Probe]:
    """Predict with other values of one argument.

    Args:
        scene: what happened.
        parameter: its name.
        others: the values to try, from the step and its present value.
    """
    return by_case(
        scene,
        (
            (
                f"{node.op} with {parameter}={show(other)} instead of {show(value)}",
                scene.with_node(node, {parameter: other}),
            )
            for node, value in scene.arguments(parameter)
            for other in others(node, value)
        ),
    )


def by_case(scene: Scene, cases: Iterable[tuple[str, Case]]) -> Iterator[Probe]:
    """Predict with changed cases on the right side."""
    return _first(scene, ((what, lambda case=case: scene.predicted(case)) for what, case in cases), scene.right.title)


def by_value(
    scene: Scene, predictions: Iterable[tuple[str, np.ndarray]], who: str = "float64 NumPy"
) -> Iterator[Probe]:
    """Predict with values computed here."""
    return _first(scene, ((what, lambda value=value: value) for what, value in predictions), who)


def _first(scene: Scene, tries: Iterable[tuple[str, Callable[[], Any]]], who: str) -> Iterator[Probe]:
    tried = []
    for what, predict in tries:
        tried.append(what)
        if scene.explains(predict()):
            yield Probe(f"{who}: {what}", f"what {scene.wrong.title} answers", "equal", True)
            return
    if tried:
        more = f" and {len(tried) - SHOWN} more" if len(tried) > SHOWN else ""
        yield Probe(f"{who}: {'; '.join(tried[:SHOWN])}{more}", f"what {scene.wrong.title} answers", "different", False)


def cure(scene: Scene, what: str, case: Case) -> Probe:
    """Predict that a change makes the divergence go away."""
    verdict = scene.retry(case).verdict
    return Probe(what, "the divergence is gone", f"verdict {verdict}", verdict in ("same", "arithmetic"))
