"""``python -m tests.live.bugs [NAME ...] [--json]``: reduce every model here and print what became of its bug.

A bug counts if the run ends in a verified script of the framework that is wrong, about the operator that is wrong, with
no more elements than the smallest trigger that was found by hand.
"""

from __future__ import annotations

import ast
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Iterator, Mapping

from rich.console import Console
from rich.table import Table

from minrepro import pipeline
from minrepro.errors import MinreproError
from minrepro.options import Options

HERE = Path(__file__).parent
DEADLINE_S = 20.0
HIDDEN_AMONG = 10
"""Innocent steps that a model has at least."""
COLUMNS = (
    "case", "framework", "verdict", "side", "operator", "symptom", "elements", "lines", "verified", "queries", "s",
)
EXPLAINED = {
    "oneflow_cell_without_state": "the missing argument is one of a module; ATen's cell always has a state",
    "oneflow_interpolate_same_size": "torch 2.13 takes the same short cut where sizes come out equal, so both agree",
}
"""Bugs that no step of a captured torch model can show, and why."""


def cases() -> dict[str, Mapping[str, Any]]:
    """Model -> its `CASE`, read without importing torch."""
    found = {}
    for path in sorted(HERE.glob("*.py")):
        for statement in ast.parse(path.read_text()).body:
            if isinstance(statement, ast.Assign) and getattr(statement.targets[0], "id", "") == "CASE":
                found[path.stem] = ast.literal_eval(statement.value)
    return found


def run(name: str, case: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Reduce one model; a row of the table."""
    options = Options(
        f"{HERE / name}.py:build", spec(case["candidate"]), spec("torch"), modes=(case.get("mode", "forward"),),
        deadline_s=DEADLINE_S, site=case.get("site", 0),
    )
    began = time.monotonic()
    try:
        report = pipeline.Run(options, folder / name, pipeline.Listener()).execute()
    except MinreproError as error:
        report = {"verdict": type(error).__name__, "why": str(error)}
    return row(name, case, report, time.monotonic() - began)


def spec(backend: str) -> str:
    """The backend, or what ``MINREPRO_TEST_PADDLE`` and its like put in its place."""
    return os.environ.get(f"MINREPRO_TEST_{backend.upper()}", backend)


def row(name: str, case: Mapping[str, Any], report: Mapping[str, Any], seconds: float) -> dict[str, Any]:
    """What a report says about a bug, and whether that is as good as the trigger found by hand."""
    signature, verified = report.get("signature", {}), report.get("verified", {"runs": 0, "reproduced": 0})
    made = {
        "case": name,
        "framework": case["framework"],
        "verdict": report["verdict"],
        "side": signature.get("side", ""),
        "operator": " ".join(report.get("final", {}).get("nodes", [])),
        "symptom": signature.get("symptom", ""),
        "elements": report.get("final", {}).get("elements"),
        "trigger": case["elements"],
        "steps": report.get("original", {}).get("nodes", 0),
        "lines": report.get("repro", {}).get("lines"),
        "verified": f"{verified['reproduced']} of {verified['runs']}",
        "queries": report.get("queries", {}).get("warm"),
        "seconds": round(seconds, 1),
        "why": report.get("why", "") or EXPLAINED.get(name, ""),
    }
    made["ok"] = (
        report["verdict"] == "divergence"
        and (made["side"], made["operator"]) == (case.get("side", "candidate"), case["op"])
        and made["elements"] <= case["elements"]
        and made["steps"] > HIDDEN_AMONG
    )
    return made


def rows(names: list[str], folder: Path) -> Iterator[dict[str, Any]]:
    """The rows of the models asked for, or of all."""
    known = cases()
    for name in names or known:
        yield run(name, known[name], folder)


def show(made: list[dict[str, Any]]) -> None:
    """Print the table and the closing line."""
    table = Table(box=None, pad_edge=False)
    for column in COLUMNS:
        table.add_column(column, justify="right" if column in ("lines", "queries", "s") else "left", no_wrap=True)
    for item in made:
        own = "-" if item["elements"] is None else item["elements"]
        table.add_row(
            item["case"], item["framework"], item["verdict"], item["side"], item["operator"], item["symptom"],
            f"{own} <= {item['trigger']}" if item["ok"] else f"{own} ({item['trigger']})", str(item["lines"] or "-"),
            item["verified"], str(item["queries"] or "-"), str(item["seconds"]), style="" if item["ok"] else "bold",
        )
    out = Console(width=190, highlight=False)
    out.print(table)
    for item in made:
        if not item["ok"]:
            out.print(f"{item['case']}: {item['why'] or 'not found as expected, and not explained'}", soft_wrap=True)
    out.print(f"{sum(item['ok'] for item in made)} of {len(made)} end in a verified script at or below the trigger")


def main() -> int:
    """Entry point; 1 if a bug is lost that is not explained."""
    arguments = sys.argv[1:]
    names = [argument for argument in arguments if argument != "--json"]
    unknown = sorted(set(names) - set(cases()))
    if unknown:
        print(f"unknown: {', '.join(unknown)}; known: {', '.join(cases())}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        made = []
        for item in rows(names, Path(folder)):
            made.append(item)
            if "--json" not in arguments:
                found = "found" if item["ok"] else item["verdict"]
                print(f"{item['case']}: {found} ({item['seconds']} s)", file=sys.stderr, flush=True)
    if "--json" in arguments:
        print(json.dumps(made, indent=1))
    else:
        show(made)
    return 0 if all(item["ok"] or item["case"] in EXPLAINED for item in made) else 1


if __name__ == "__main__":
    sys.exit(main())
