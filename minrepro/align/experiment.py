"""Is it the framework or the port? The reference's own steps, spelled by us on the candidate, decide.

A unit that errs on right inputs is captured on the reference as ATen steps, and each step of its own runs on the
candidate framework with pinned inputs. If a step diverges there too, no line of the port has anything to do with it.
"""

from __future__ import annotations

import math
from typing import Any, Sequence

import msgspec
import numpy as np

from minrepro import ops
from minrepro.align.findings import Row
from minrepro.align.loading import Entry
from minrepro.align.seat import Seat
from minrepro.capture import read
from minrepro.compare.pair import Pair
from minrepro.ir.case import Case
from minrepro.ir.divergence import Site
from minrepro.ir.graph import Graph, Node
from minrepro.ir.tensor import Layout, Permute, Tensor
from minrepro.localise.gradients import Gradients
from minrepro.localise.streaming import INTO, LOAD, Stream
from minrepro.ops.gradient import is_gradient

MOST = 6
"""Kinds of guilty units that are looked into; the others of a kind share its answer."""


class Answer(msgspec.Struct):
    """What the experiment said about one unit.

    Attributes:
        site: the step that diverges on the candidate without the port, or None.
        steps: how many of the unit's own steps were checked.
        why: why it could not be done, or ``""``.
    """

    site: Site | None = None
    steps: int = 0
    why: str = ""


class Experiment:
    """Asks about guilty units.

    Args:
        reference: the reference's session, with its model watched.
        pair: the reference's worker, and a candidate worker that holds nothing.
        template: settings of the cases made.
    """

    def __init__(self, reference: Seat, pair: Pair, template: Case):
        self.reference, self.pair, self.template = reference, pair, template

    def ask(self, row: Row, backward: bool = False) -> Answer:
        """Capture the call of a unit in which its worst error was made, and check its own steps, or their gradients."""
        try:
            reply = self._captured(row.unit, row.worst.maker_call if row.worst is not None and not backward else 0)
        finally:
            self.reference.ask("stop", title="alone")
        if "error" in reply:
            return Answer(why=str(reply["error"].get("message", reply["error"].get("kind", "it cannot be captured"))))
        captured = read(reply, [])
        if backward:
            trained = [name for name, kind in captured.kinds.items() if kind == "parameter"]
            stream: Stream = Gradients(self.pair, msgspec.structs.replace(self.template, mode="backward"), trained)
        else:
            stream = Stream(self.pair, self.template)
        trace = stream.forward(captured.graph, captured.specs)
        inner = "inner" if "::" in row.unit else ""
        own = [step for step in trace.checked if step.path == inner or "::" not in row.unit and not step.path]
        bad = {step.node for step in own if step.comparison.verdict == "diverges"}
        site = next((site for site in trace.sites if site.node.name in bad), None)
        return Answer(site, len(own), "" if own else "no step of its own was recorded")

    def _captured(self, unit: str, call: int) -> dict[str, Any]:
        """Run the reference up to the entry of one call, and capture that call."""
        event = self.reference.ask("start", title="alone")
        while event["kind"] not in ("done", "raised"):
            if event["kind"] == "enter" and event["unit"] == unit and event["call"] == call:
                return self.reference.ask("alone", title="alone", rows=list(ops.table()))
            event = self.reference.ask("go", title="alone")
        return {"error": {"kind": "gone", "message": f"the reference did not come to call {call} of {unit} again"}}

    def loaded(self, entries: Sequence[Entry]) -> Case | None:
        """The one-step case of the smallest entry that the framework stored wrongly, if it shows without the port."""
        names = {entry["key"]: entry["name"] for entry in self.reference.ask("state")}
        for entry in sorted(entries, key=lambda e: math.prod(e.shape)):
            source = self.reference.fetch([names[entry.source]])[names[entry.source]]
            if entry.given == "turned as due":
                source = Tensor(source.base, source.dtype, Layout((*source.layout.links, Permute((1, 0)))))
            due = Tensor(np.zeros(source.shape, source.dtype.storage), source.dtype)
            node = Node(LOAD, INTO, ("out",), path=entry.key)
            graph = Graph(node.inputs, (node,), ("out",))
            feeds = {name: {"dst": due, "src": source}[name] for name in graph.inputs}
            case = msgspec.structs.replace(self.template, graph=graph, feeds=feeds, mode="load")
            if self.pair.compare(case)[0].verdict == "diverges":
                return case
        return None

    def case(self, site: Site) -> Case:
        """The one-step case of a site, for the reducer."""
        graph = Graph(tuple(site.feeds), (site.node,), site.node.outputs)
        mode = "backward" if is_gradient(site.node.op) else "forward"
        return msgspec.structs.replace(self.template, graph=graph, feeds=site.feeds, mode=mode)


def kind(row: Row) -> tuple[str, ...]:
    """Rows of one kind share an answer: the same classes, the same lines."""
    return (*row.types, row.unit.partition("::")[2], *row.lines)
