"""The last word on a script: it runs alone, in fresh processes, and has to print the divergence it was written for.

A script that exits with 1 for another reason does not count. Under a replay it must show the bug every time, and
without the replay it must not.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from minrepro.backends import Backend, parse
from minrepro.environments import pythons
from minrepro.ir.outcome import Completed, Crashed, Raised
from minrepro.ir.reduction import Finding, Rate, Repro, Verified
from minrepro.shrink.sequential import Sequence, sequence
from minrepro.verify.ahead import DEADLINE, PARALLEL, Ahead
from minrepro.verify.running import Run, run
from minrepro.verify.same import difference

NEVER = Rate(0, 1)
"""How often a script shows its bug by chance: other processes and other bugs do not count."""
MOST = 150
"""Fresh processes for one script at most."""
SHOWN = 1 << 14
"""Characters of a run's output that are stored."""


def verify(
    repro: Repro,
    finding: Finding,
    interpreter: str,
    runs: int = 3,
    replay_file: Path | None = None,
    deadline: float = DEADLINE,
    ahead: Ahead | None = None,
) -> Verified:
    """Run a script in fresh processes and count how often it shows its bug.

    A bug that shows only now and then is run until a sequential test is decided: does the script show it as often as the
    case did in the search, or, if that was every time, as often as in the first runs?

    Args:
        repro: the script.
        finding: what it has to show.
        interpreter: Python of the framework that the script uses.
        runs: how many processes, at least.
        replay_file: file of the historical bug to run it under; then it also runs once without, and must exit with 0.
        deadline: seconds per run.
        ahead: what was started for this script already, if anything; it is over afterwards.
    """
    backend = _backend(finding)
    under = (backend.path, str(replay_file)) if replay_file is not None else None

    kind = interpreter, finding.case.threads, under
    with ahead if ahead is not None and ahead.kind == kind else Ahead(*kind, deadline) as processes:
        jobs, bare = processes.begin(repro.text, runs)
        done = [job.result() for job in jobs]
        reasons = [reason(finding, one) for one in done]
        test = _flaky(finding, reasons)
        while test is not None and test.decision is None and len(done) < MOST:
            more = [job.result() for job in processes.more(repro.text, PARALLEL)]
            done += more
            reasons += [reason(finding, one) for one in more]
            for why in reasons[-len(more):]:
                test.add(why is None)
        without = bare.result().status if bare is not None else None
    return Verified(
        runs=len(done),
        reproduced=reasons.count(None),
        statuses=tuple(one.status for one in done),
        without_replay=without,
        environment=_environment(backend, interpreter),
        output=_output(done, reasons),
        accepted=test is not None and test.decision is True,
    )


def _flaky(finding: Finding, reasons: list[str | None]) -> Sequence | None:
    """The test for a bug that does not show every time, with the first runs in it; None for one that does."""
    rate = finding.rate
    if rate is None and 0 < reasons.count(None) < len(reasons):
        rate = Rate(reasons.count(None), len(reasons))
    if rate is None:
        return None
    test = sequence(rate, NEVER)
    for why in reasons:
        test.add(why is None)
    return test


def reason(finding: Finding, one: Run) -> str | None:
    """Say why a run does not show the finding, or None if it does."""
    if one.status != 1:
        return f"expected exit status 1, found {one.status}"
    outcome, symptom = finding.outcome, finding.divergence.symptom
    kind = outcome.kind if isinstance(outcome, Raised) else outcome.signal if isinstance(outcome, Crashed) else ""
    due = ""
    if isinstance(outcome, Completed) and finding.divergence.output in outcome.values:
        tensor = outcome.values[finding.divergence.output]
        due = {"shape": str(list(tensor.shape)), "dtype": tensor.dtype.name}.get(symptom, "")
    return difference(msgspec.structs.replace(finding.signature, symptom=symptom, kind=kind), one.output, due)


def rerun(
    text: str,
    backend: Backend,
    interpreter: str,
    threads: int = 1,
    replay_file: Path | None = None,
    deadline: float = DEADLINE,
) -> Run:
    """Run a stored script once, under its replay if it has one.

    Args:
        text: the script.
        backend: its framework.
        interpreter: Python of that framework, in any version.
        threads: size of the thread pools.
        replay_file: file of the historical bug.
        deadline: seconds.
    """
    under = (backend.path, str(replay_file)) if replay_file is not None else None
    return run(text, interpreter, threads=threads, under=under, deadline=deadline)


def _backend(finding: Finding) -> Backend:
    return parse(finding.case.reference if finding.side == "reference" else finding.case.candidate).backend


def _environment(backend: Backend, interpreter: str) -> Mapping[str, str]:
    found = pythons.installed(interpreter, backend.module)
    if found is None:
        return {}
    versions = {name: found.packages[name] for name in (backend.package, "numpy") if name in found.packages}
    return {"python": found.minor, **versions}


def _output(done: list[Run], reasons: list[str | None]) -> str:
    """What the last run printed, or a run that did not reproduce and why."""
    at = next((i for i, why in enumerate(reasons) if why is not None), len(done) - 1)
    if at < 0:
        return ""
    printed = done[at].output[-SHOWN:]
    return printed if reasons[at] is None else f"run {at + 1}: {reasons[at]}\n{printed}{done[at].errors}"
