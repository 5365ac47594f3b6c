"""A finding as a script that a maintainer can paste: one framework, one file, exit status 1 (there), 0 (gone), 125.

The steps are the text that the worker ran (`backends.program`); the rest is literal data with its layout, the expected
value with its reason, and a comparison that a reader can check by eye.
"""

from __future__ import annotations

import builtins
import json
import math
import re
from collections.abc import Mapping

from minrepro import replays
from minrepro.backends import Spec, table
from minrepro.backends.program import Feed, filling
from minrepro.emit import literal, template
from minrepro.emit.judge import Holes, expectation
from minrepro.emit.parts import Parts
from minrepro.emit.title import title
from minrepro.environments import recipes
from minrepro.errors import InternalError
from minrepro.ir.outcome import Crashed, Outcome, Raised, TimedOut
from minrepro.ir.reduction import Finding

TEMPLATES = {
    "value": "value", "nonfinite": "value", "shape": "value", "dtype": "value",
    "structure": "value", "exception": "exception", "accepted": "accepted", "crash": "crash", "hang": "hang",
}
"""Symptom -> template. A wrong number of outputs shows as an exception, that of its unpacking."""
HANG_SECONDS = (10, 60)
"""Least and greatest patience of a script before it calls a silent call a hang."""


def text(parts: Parts) -> str:
    """The whole script."""
    finding = parts.finding
    symptom = finding.divergence.symptom
    kind = "exception" if isinstance(finding.outcome, Raised) and symptom == "structure" else TEMPLATES.get(symptom)
    if kind is None:
        raise InternalError(f"there is no template for the symptom {symptom!r} with a {type(finding.outcome).__name__}")
    setup = [line for feed in parts.program.feeds for line in _feed(feed, parts)]
    if parts.case.fill:
        # A framework that was imported before has not asked for this memory yet.
        setup = [*filling(parts.case.fill)[1:], *setup]
    steps = [line for step in parts.program.steps for line in step.lines]
    holes: Holes = {
        "PYTHON": parts.backend.python, "TITLE": title(parts), "WHY": parts.why, "NOTES": _notes(finding),
        "SETUP": setup, "STEPS": steps,
    }
    holes |= expectation(parts) | _ending(finding)
    used = "\n".join([*setup, *steps, *holes["EXPECT"], str(holes["SAME"]), str(holes["ACTUAL"])])
    holes["IMPORTS"] = _imports(parts, used)
    holes["PACKAGES"] = json.dumps(requirements(parts.spec, finding.environment, "np." in used))
    return template.fill(template.read(kind), holes)


def _feed(feed: Feed, parts: Parts) -> list[str]:
    backend = table()["numpy"] if feed.array else parts.backend
    return literal.assignment(feed.variable, parts.case.feeds[feed.value], backend)


def _notes(finding: Finding) -> list[str]:
    notes = replay_notes(finding.replay)
    if finding.rate is not None:
        notes.append(f"# It shows {finding.rate}: repeat it before a 0 is believed.")
    return notes


def replay_notes(replay: str) -> list[str]:
    """The line that says under which historical bug a script was made, if under one."""
    if not replay:
        return []
    history = replays.find(replay).history.partition(" (")[0]
    return [f"# REPLAY of a historical bug ({history}): on today's release this passes."]


def _imports(parts: Parts, used: str) -> list[str]:
    lines = [line for root, line in parts.backend.imports.items() if re.search(rf"\b{root}\.", used)]
    if "np." in used and "import numpy as np" not in lines:
        lines.insert(0, "import numpy as np")
    if "ctypes." in used:
        lines.insert(0, "import ctypes")
    names = literal.special(used)
    return [f"from math import {', '.join(names)}", *lines] if names else lines


def requirements(spec: Spec, environment: Mapping[str, str], numpy: bool) -> list[str]:
    """What a script's header asks for: the framework's exact version, and what its package forgets to declare.

    Args:
        spec: the framework.
        environment: package -> version, as its worker told.
        numpy: whether the script uses NumPy itself.
    """
    backend = spec.backend
    version = environment.get(backend.package) or environment.get(backend.module) or spec.version
    version = version.partition("+")[0]  # a local version is on no public index
    variants = recipes.find(backend).variants(version)
    portable = next((v for v in reversed(variants) if v.finish is None and not v.uv_arguments), variants[-1])
    wanted = [re.sub(r"\+[\w.]+$", "", item) for item in portable.requirements]
    if portable.finish is not None:
        wanted += [line for line in recipes.pins().get(backend.name, ()) if line.startswith("nvidia-")]
    if numpy and "numpy" in environment:
        wanted = [item for item in wanted if not re.match(r"numpy\b", item)] + [f"numpy=={environment['numpy']}"]
    return [item for item in dict.fromkeys(wanted) if numpy or item != "numpy"]


def _ending(finding: Finding) -> Holes:
    """Exception class, signal or patience, each only where the outcome has one."""
    outcome = finding.outcome
    if isinstance(outcome, Raised):
        builtin = isinstance(getattr(builtins, outcome.kind, None), type)
        guard = [] if builtin else [f"if type(error).__name__ != {outcome.kind!r}:", "    raise"]
        return {"KIND": outcome.kind if builtin else "Exception", "GUARD": guard}
    return endings(outcome, bool(finding.expected))


def endings(outcome: Outcome, expected: bool) -> Holes:
    """How the child of a script may end, for a call that ends its process or never returns.

    Args:
        outcome: what the call does; anything else needs nothing.
        expected: a result is due; else the reference refuses too.
    """
    # Where nothing is expected a child whose call raises ends with 125.
    fine = ["exit 42"] if expected else ["exit 42", "exit 125"]
    due = "exit 42 (the call returns)" if expected else "exit 42 or 125 (a result or an exception)"
    if isinstance(outcome, Crashed):
        if not re.fullmatch(r"SIG[A-Z0-9]+|exit \d+", outcome.signal):
            raise InternalError(f"a script cannot show the end {outcome.signal!r}; expected a signal or an exit status")
        return {"DUE": due, "ENDINGS": _endings(outcome.signal, fine)}
    if isinstance(outcome, TimedOut):
        seconds = min(max(math.ceil(outcome.seconds), HANG_SECONDS[0]), HANG_SECONDS[1])
        return {"SECONDS": str(seconds), "DUE": due, "ENDINGS": _endings("SIGALRM", fine)}
    return {}


def _endings(bad: str, fine: list[str]) -> str:
    """How the child may end -> exit status of the script."""
    return json.dumps({bad: 1, **dict.fromkeys(fine, 0)})
