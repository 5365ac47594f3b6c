"""Random draws: which one of the reference answers to which one of the port, and which has no answer."""

from __future__ import annotations

import msgspec

from minrepro.ir.tensor import Tensor


class Draw(msgspec.Struct):
    """One draw of the reference.

    Attributes:
        stack: units around it, as (number, call).
        distribution: family with its parameters.
        value: what was drawn.
        line: file and line.
        takers: runs that were given it.
    """

    stack: tuple[tuple[int, int], ...]
    distribution: str
    value: Tensor
    line: tuple[str, int]
    takers: set[str] = set()


class Loose(msgspec.Struct, frozen=True):
    """A draw of the port that no draw of the reference answers to."""

    unit: int
    distribution: str
    shape: tuple[int, ...]
    line: tuple[str, int]


class Draws:
    """The draws of one pass.

    Args:
        injected: give the reference's values to the port; else every draw stays loose.
    """

    def __init__(self, injected: bool = True):
        self.injected = injected
        self.known: list[Draw] = []
        self.loose: dict[str, list[Loose]] = {}
        self.hidden: dict[bool, set[int]] = {False: set(), True: set()}

    def made(self, stack, distribution: str, value: Tensor, line: tuple[str, int]) -> None:
        """Note a draw of the reference."""
        self.known.append(Draw(stack, distribution, value, line, set()))

    def hide(self, candidate: bool, unit: int) -> None:
        """Note a unit in which a side draws inside of a kernel, where no value can be taken or given."""
        self.hidden[candidate].add(unit)

    def take(self, role: str, title: str, stack, distribution: str, shape, line, over: bool) -> Tensor | str:
        """The value for a follower's draw, ``wait`` if the reference may still make it, or ``loose``.

        The draw of the same unit and distribution comes first, in order; then any draw of that distribution and shape.
        """
        if self.injected or role not in ("candidate", "free", "wide"):
            place = stack[-1] if stack else (-1, 0)
            fits = [d for d in self.known if title not in d.takers and d.distribution == distribution
                    and d.value.shape == shape]
            near = [d for d in fits if (d.stack[-1] if d.stack else (-1, 0)) == place]
            if near or (over and fits):
                draw = (near or fits)[0]
                draw.takers.add(title)
                return draw.value
            if not over:
                return "wait"
        unit = stack[-1][0] if stack else -1
        self.loose.setdefault(title, []).append(Loose(unit, distribution, tuple(shape), line))
        return "loose"

    def untaken(self, title: str) -> list[Draw]:
        """Draws of the reference that the follower never made."""
        return [draw for draw in self.known if title not in draw.takers]
