"""The pair made small: axes, then values, as long as the same fault shows.

The texts stay as they are but for computed plain values, which follow the axes that they stand for on both sides at once,
and the inputs are the same on both sides. So whatever still differs is the difference between the two texts, and a
variant is taken only if it differs in the same way.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator

import msgspec
import numpy as np

from minrepro.align.glue.oracle import Oracle, Result, symptom
from minrepro.align.glue.pair import Pair, spelled
from minrepro.align.glue.scene import Scene
from minrepro.align.glue.spelling import Function

QUERIES = 400
"""Runs of a body that shrinking may ask for."""
POWERS = (-0.5, 0.5, -1.0)
"""Powers of a size that a constant may be: the scale of an attention, a mean."""


class Small(msgspec.Struct):
    """A pair at a certain size.

    Attributes:
        functions: body of the reference and of the port.
        inputs: name -> value.
        results: what each side gives.
        symptom: how they differ.
    """

    functions: tuple[Function, Function]
    inputs: dict[str, np.ndarray]
    results: tuple[Result, Result]
    symptom: str

    @property
    def elements(self) -> int:
        """Numbers that have to be written down."""
        return sum(value.size for value in self.inputs.values())


class Reducer:
    """Shrinks one pair.

    Args:
        scene: both sides.
        pair: what to shrink.
        oracle: runs it.
        progress: called with (done, total, what).
    """

    def __init__(self, scene: Scene, pair: Pair, oracle: Oracle, progress: Callable[[int, int, str], None]):
        self.scene, self.pair, self.oracle, self.progress = scene, pair, oracle, progress
        self.end = oracle.queries + QUERIES
        self.sizes = {n: n for n in _sizes(scene, pair)}

    def run(self) -> Small | None:
        """The smallest variant that was found; None if the pair as it is does not differ clearly."""
        best = self.attempt(self.sizes, self.pair.inputs, "")
        if best is None:
            return None
        for _ in range(3):
            before = (best.elements, dict(self.sizes))
            best = self.shrink_values(self.shrink_sizes(best))
            if (best.elements, self.sizes) == before:
                break
        return best

    def full(self) -> tuple[Function, Function]:
        """Both bodies at their full size."""
        return spelled(self.scene, self.pair, 0), spelled(self.scene, self.pair, 1)

    def attempt(self, sizes: dict[int, int], inputs: dict[str, np.ndarray], due: str) -> Small | None:
        """Run a variant; None unless both sides still differ in the same way."""
        if self.oracle.queries >= self.end:
            return None
        self.progress(self.oracle.queries, self.end, "shrinking the pair")
        scale = _scaler(sizes)
        bodies = (spelled(self.scene, self.pair, 0, scale), spelled(self.scene, self.pair, 1, scale))
        left = self.oracle.run(0, bodies[0], inputs)
        if left.value is None or not left.value.size:
            return None
        right = self.oracle.run(1, bodies[1], inputs)
        found = symptom(left, right)
        if not found or due and found != due or right.value is not None and not right.value.size:
            return None
        used = {name: inputs[name] for name in inputs if name in bodies[0].used or name in bodies[1].used}
        return Small(bodies, used, (left, right), found)

    # -- axes ----------------------------------------------------------------------------------------------------

    def shrink_sizes(self, best: Small) -> Small:
        """Make every size as small as it goes, the largest first."""
        for size in sorted(self.sizes, reverse=True):
            for new in (1, 2, 3, self.sizes[size] // 4, self.sizes[size] // 2):
                if not 0 < new < self.sizes[size]:
                    continue
                found = next((f for f in (self._with(s, best) for s in self._changed(size, new)) if f), None)
                if found is not None:
                    best = found
                    break
        return best

    def _changed(self, size: int, new: int) -> Iterator[dict[int, int]]:
        """The sizes with one changed: alone, with its multiples, and with the sizes that it is a part of."""
        now = self.sizes[size]
        yield {**self.sizes, size: new}
        multiples = {
            n: self.sizes[n] // now * new for n in self.sizes if n % size == 0 and self.sizes[n] % now == 0
        }
        if len(multiples) > 1:
            yield {**self.sizes, **multiples}

    def _with(self, sizes: dict[int, int], best: Small) -> Small | None:
        inputs = {}
        for name, value in best.inputs.items():
            shape = tuple(sizes.get(n, n) for n in self.pair.inputs[name].shape)
            if any(new > old for new, old in zip(shape, value.shape)):
                return None
            inputs[name] = np.ascontiguousarray(value[tuple(slice(0, n) for n in shape)]).reshape(shape)
        found = self.attempt(sizes, inputs, best.symptom)
        if found is not None:
            self.sizes = sizes
        return found

    # -- values --------------------------------------------------------------------------------------------------

    def shrink_values(self, best: Small) -> Small:
        """Make the values of every input plain."""
        for name in list(best.inputs):
            value = best.inputs[name]
            for plainer in plainer_values(value):
                if np.array_equal(plainer, value):
                    break
                found = self.attempt(self.sizes, {**best.inputs, name: plainer}, best.symptom)
                if found is not None and _finite(found) == _finite(best):
                    best = found
                    break
        return best


def _finite(small: Small) -> tuple[bool, ...]:
    return tuple(r.value is None or r.value.dtype.kind != "f" or bool(np.isfinite(r.value).all()) for r in small.results)


def plainer_values(value: np.ndarray) -> Iterator[np.ndarray]:
    """Values of the same shape and dtype that are easier to read, the plainest first."""
    if value.dtype.kind == "b":
        return
    counted = np.arange(value.size).reshape(value.shape)
    if value.dtype.kind in "iu":
        yield np.zeros_like(value)
        yield counted.astype(value.dtype)
        return
    yield np.ones_like(value)
    yield counted.astype(value.dtype)
    yield (counted + 1).astype(value.dtype)
    yield np.random.RandomState(0).randint(-3, 4, value.shape).astype(value.dtype)
    with np.errstate(all="ignore"):
        for digits in (0, 1, 2):
            rounded = np.round(value, digits)
            if np.isfinite(rounded).all():
                yield rounded + np.zeros_like(value)  # no negative zeros


def _sizes(scene: Scene, pair: Pair) -> list[int]:
    """Extents of the inputs and computed integers of both texts, 2 and more."""
    found = {n for value in pair.inputs.values() for n in value.shape}

    def note(value: Any) -> Any:
        _each(value, found.add)
        return value

    for side in (0, 1):
        spelled(scene, pair, side, note)
    return sorted(n for n in found if n > 1)


def _each(value: Any, action: Callable[[int], None]) -> None:
    if isinstance(value, (list, tuple)):
        for item in value:
            _each(item, action)
    elif isinstance(value, int) and not isinstance(value, bool):
        action(value)


def root(value: float) -> tuple[int, float] | None:
    """(size, power) if a constant is a power of a size, as the scale of an attention is; else None."""
    for power in POWERS:
        if value > 0 and value != 1:
            size = value ** (1 / power)
            if 1.5 < size < 1e5 and math.isclose(size, round(size), rel_tol=1e-6):
                return round(size), power
    return None


def factors(number: int, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The size, or the two sizes, that a number is made of; () if it is none of theirs."""
    if number in sizes:
        return (number,)
    return next(((n, number // n) for n in sorted(sizes) if number % n == 0 and number // n in sizes), ())


def _scaler(sizes: dict[int, int]) -> Callable[[Any], Any]:
    """Changes computed plain values with the sizes that they stand for."""

    def scale(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)([scale(item) for item in value])
        if isinstance(value, bool):
            return value
        if isinstance(value, int):
            return sizes.get(value, value)
        found = root(value) if isinstance(value, float) else None
        if found is not None:
            made_of = factors(found[0], tuple(sizes))
            now = math.prod(sizes[n] for n in made_of)
            return float(now) ** found[1] if made_of and now != found[0] else value
        return value

    return scale


def before(scene: Scene) -> int:
    """Steps of both sides' own code before anything was taken away."""
    return sum(node.kind in ("op", "write", "raised") for trace in (scene.reference, scene.port) for node in trace.nodes)



