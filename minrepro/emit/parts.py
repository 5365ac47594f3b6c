"""A finding made ready for printing: framework chosen, values renamed, steps spelled."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from minrepro.backends import Backend, Spec, parse
from minrepro.backends.program import Program, program
from minrepro.emit.names import canonical
from minrepro.errors import InternalError
from minrepro.ir.case import Case
from minrepro.ir.outcome import Completed
from minrepro.ir.reduction import Finding
from minrepro.ir.tensor import Tensor, TensorSpec


class Parts(msgspec.Struct, frozen=True):
    """A finding prepared for printing: the framework, the case with short names, its program."""

    finding: Finding
    spec: Spec
    backend: Backend
    case: Case
    names: Mapping[str, str]
    program: Program

    @property
    def output(self) -> str:
        """The value that the script judges, under its name in the finding."""
        outputs = self.finding.case.graph.outputs
        return self.finding.divergence.output if self.finding.divergence.output in outputs else outputs[0]

    @property
    def variable(self) -> str:
        """The variable that holds it."""
        return self.program.variables[self.names[self.output]]

    @property
    def expected(self) -> Tensor | None:
        """What it should be, if a result is due."""
        return self.finding.expected.get(self.output)

    @property
    def why(self) -> str:
        """Where the expectation comes from, fit for a comment."""
        return re.sub(r"\s+", " ", self.finding.why).replace("\\", "/").replace('"""', "'").strip()


def prepare(finding: Finding, specs: Mapping[str, TensorSpec] = {}) -> Parts:
    """Choose framework and names, and spell the steps.

    Args:
        finding: what to print.
        specs: specs of inner values, for spellings that depend on them.
    """
    spec = parse(finding.case.reference if finding.side == "reference" else finding.case.candidate)
    case, names = canonical(finding.case, spec.backend)
    known: dict[str, TensorSpec] = dict(specs)
    if isinstance(finding.outcome, Completed):
        known |= {name: tensor.spec for name, tensor in finding.outcome.values.items()}
    known |= {name: tensor.spec for name, tensor in (*finding.expected.items(), *finding.case.feeds.items())}
    known = {names[name]: value for name, value in known.items() if name in names}
    unknown = [name for node in case.graph.nodes[1:] for name in node.inputs if name not in known]
    if unknown:
        old = next(key for key, value in names.items() if value == unknown[0])
        raise InternalError(f"the spec of the inner value {old!r} is needed to spell the script; pass it in specs")
    spelled = program(case.graph, known, spec.backend, case.terse)
    return Parts(finding, spec, spec.backend, case, names, spelled)
