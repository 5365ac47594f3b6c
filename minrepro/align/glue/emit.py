"""The pair as one script: both bodies as functions, literal inputs, both results side by side.

It runs where the port's framework is; where the reference's can be imported too, its half runs as well, else the value
that it gave stands in the script. Nothing is shown that was not run: the script in a fresh process of the port's
interpreter, the reference's half in one of its own.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Mapping

import msgspec
import numpy as np

from minrepro.align.glue.reduce import Small
from minrepro.align.glue.trace import Trace
from minrepro.backends import Backend, Spec, table
from minrepro.compare.pair import Side
from minrepro.emit import literal, template
from minrepro.emit.literal import special
from minrepro.emit.script import requirements
from minrepro.ir.tensor import Tensor
from minrepro.verify.running import run

TENSOR = {"torch": "torch.tensor", "oneflow": "flow.tensor", "paddle": "paddle.to_tensor"}
"""What makes a tensor of an array."""
LIMIT = 1e-4
"""Share of the root mean square up to which the script calls two values equal; a fault is ten times that."""
DEADLINE = 120.0


class Story(msgspec.Struct, frozen=True):
    """What the script says about itself.

    Attributes:
        traces: both sides' functions.
        place: which of its values differs.
        versions: of both frameworks, as text.
        lines: where the fault is, on both sides.
        environment: package -> version on the port's side.
    """

    traces: tuple[Trace, Trace]
    place: str
    versions: tuple[str, str]
    lines: tuple[int, int]
    environment: Mapping[str, str] = {}


def text(small: Small, story: Story, reference: Backend, spec: Spec) -> str:
    """The whole script."""
    names, port = list(small.inputs), spec.backend
    expected = small.results[0].value
    assert expected is not None, "a pair whose reference gives nothing is not emitted"
    arrays = table()["numpy"]
    setup = [line for name in names for line in literal.assignment(name, Tensor(small.inputs[name]), arrays)]
    due = literal.assignment("expected", Tensor(expected), arrays)
    wanted = special("\n".join(setup + due))
    files = [f"{Path(trace.file).name}:{line}" for trace, line in zip(story.traces, story.lines)]
    holes = {
        "PYTHON": port.python, "PACKAGES": json.dumps(requirements(spec, story.environment, True)),
        "TITLE": _words(f"A mistake of the port, not a bug of {port.title}: {story.traces[1].name} at {files[1]}."),
        "NOTES": [
            f"# The reference: {story.traces[0].name} at {files[0]}, {story.versions[0]}. The port: {story.versions[1]}.",
            f"# All its parts and inputs are right, but {_words(story.place)}. Exit 1: it shows, 0: both agree.",
        ],
        "SETUP": ([f"from numpy import {', '.join(wanted)}"] if wanted else []) + setup,
        "EXPECT": [due[0] + (f"  # by {story.versions[0]}" if len(due) == 1 else ""), *due[1:]],
        "PARAMETERS": ", ".join(names), "REFERENCE": [*small.functions[0].imports, *small.functions[0].lines],
        "PORT": small.functions[1].lines, "IMPORTS": _imports(small, port),
        "RIGHT": [_import(reference), f"expected = {_called('reference', names, reference)}"],
        "ACTUAL": _called("port", names, port), "SHOW_EXPECTED": _shown("expected", expected),
        "SHOW_ACTUAL": _shown("actual", expected), "SAME": _same(expected), "LIMIT": _limit_words(expected),
        "KIND": small.symptom.partition(" ")[2] or "Exception",
    }
    return template.fill(template.read("glue_exception" if small.symptom.startswith("exception") else "glue"), holes)


def _words(words: str) -> str:
    return words.replace("\\", "/").replace('"""', "'").replace("\n", " ")


def _imports(small: Small, port: Backend) -> list[str]:
    """What the port's half needs; the reference imports in its own function, where the same name may mean another module."""
    return list(dict.fromkeys([_import(port), *small.functions[1].imports]))


def _import(backend: Backend) -> str:
    root = TENSOR[backend.name].partition(".")[0]
    return backend.imports[root]


def _called(function: str, names: list[str], backend: Backend) -> str:
    given = ", ".join(f"{TENSOR[backend.name]}({name})" for name in names)
    if len(names) > 2:
        given = f"*map({TENSOR[backend.name]}, [{', '.join(names)}])"
    return f"{function}({given}).numpy()"


def _shown(name: str, expected: np.ndarray) -> str:
    return f"{name}.tolist()" if expected.size <= 64 else name


def limit(expected: np.ndarray) -> float:
    """The largest difference that the script forgives."""
    fine = expected[np.isfinite(expected)].astype(np.float64) if expected.dtype.kind == "f" else np.zeros(0)
    if not fine.size:
        return 0.0
    size = float(np.max(np.abs(fine)))
    root = float(np.sqrt(np.mean((fine / size) ** 2))) * size if size else 0.0
    return float(f"{LIMIT * root:.0e}")


def _same(expected: np.ndarray) -> str:
    if not limit(expected):
        return "np.array_equal(actual, expected)"
    if not np.isfinite(expected).all():
        return f"np.isclose(actual, expected, rtol=0, atol={limit(expected)}, equal_nan=True).all()"
    return f"np.abs(actual - expected).max() <= {limit(expected)}"


def _limit_words(expected: np.ndarray) -> str:
    return "more than rounding could do" if limit(expected) else "nothing is rounded here"


def verified(script: str, small: Small, reference: Side, port: Side) -> str:
    """Run the script and its reference's half; "" if both do what they should, else what they did."""
    found = run(script, port.worker.interpreter, deadline=DEADLINE)
    if found.status != 1:
        return f"the script ends with {found.status} in {port.title}'s interpreter: {found.errors.strip()[-300:]}"
    expected, backend = small.results[0].value, reference.spec.backend
    assert expected is not None
    theirs = set(_imports(small, port.spec.backend))
    head = [line for line in script.partition('if __name__ == "__main__":')[0].splitlines() if line not in theirs]
    tail = [
        _import(backend), f"actual = {_called('reference', list(small.inputs), backend)}",
        f"sys.exit(0 if actual.shape == expected.shape and {_same(expected)} else 1)", "",
    ]
    half = run("\n".join(head + tail), reference.worker.interpreter, deadline=DEADLINE)
    if half.status != 0:
        return f"the reference's half does not give the expected value ({half.status}): {half.errors.strip()[-300:]}"
    return ""
