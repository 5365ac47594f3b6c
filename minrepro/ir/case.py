"""The thing that is shrunk: a program, the values fed to it, and the two backends that should agree on it."""

from __future__ import annotations

from typing import ClassVar, Mapping

import msgspec

from minrepro.ir.graph import Graph
from minrepro.ir.tensor import Tensor

MODES = ("load", "forward", "backward", "second")


class Case(msgspec.Struct, frozen=True):
    """A comparison that can be run.

    Attributes:
        graph: the program.
        feeds: graph input -> value with layout.
        reference: backend spec of the trusted side (`backends.spec`).
        candidate: backend spec of the side under test.
        mode: ``load``, ``forward``, ``backward``, or ``second`` for the gradient of a gradient.
        threads: worker threads; part of a bug's recipe.
        seed: seed of everything random in this case.
        terse: spell calls without the arguments that equal their defaults.
        fill: byte that fresh memory is filled with before the program runs, so that what it reads without having
            written it is the same every time; 0 for memory as it comes.
    """

    OMITTED: ClassVar[tuple[str, ...]] = ("fill",)
    """Fields that are not written where they have their default, so that equal cases keep their digest."""

    graph: Graph
    feeds: Mapping[str, Tensor]
    reference: str
    candidate: str
    mode: str = "forward"
    threads: int = 1
    seed: int = 0
    terse: bool = False
    fill: int = 0

    @property
    def elements(self) -> int:
        """Number of elements in all feeds."""
        return sum(self.feeds[name].size for name in self.graph.inputs)

    def lint(self) -> str | None:
        """Answer what is malformed as a sentence, or None."""
        missing = [name for name in self.graph.inputs if name not in self.feeds]
        if missing:
            return f"the graph input {missing[0]!r} has no feed"
        if self.mode not in MODES:
            return f"unknown mode {self.mode!r}; expected one of {', '.join(MODES)}"
        if not 0 <= self.fill <= 255:
            return f"expected a byte to fill memory with, found {self.fill}"
        return self.graph.lint()

    def summary(self) -> str:
        """The case in one line: its steps and its feeds."""
        steps = " -> ".join(node.op for node in self.graph.nodes)
        feeds = ", ".join(f"{name}: {self.feeds[name].spec}" for name in self.graph.inputs)
        return f"{steps}({feeds})"
