"""Every distinct divergence of a sweep through the stages of a run, from the diagnosis on."""

from __future__ import annotations

import ast
import json
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

from minrepro.errors import MinreproError
from minrepro.options import Options
from minrepro.pipeline import Listener, Run
from minrepro.sweep.plan import case_of
from minrepro.sweep.report import Group


class Many:
    """Reduces groups, several at a time; what a finished folder says is not asked again.

    Args:
        groups: what the sweep found.
        specs: reference and candidate.
        folder: of the sweep; run folders go below it.
        jobs: runs at a time.
        deadline_s: time one evaluation may take.
    """

    def __init__(self, groups: list[Group], specs: tuple[str, str], folder: Path, jobs: int, deadline_s: float):
        self.groups, self.specs, self.folder = groups, specs, folder
        self.jobs, self.deadline_s = jobs, deadline_s

    def run(self) -> Iterator[dict[str, Any]]:
        """Yield, as they are done: operator, verdict, cause, title of the script, run folder."""
        pool = ThreadPoolExecutor(self.jobs, "shrink")
        try:
            for job in as_completed([pool.submit(self._one, group) for group in self.groups]):
                yield job.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _one(self, group: Group) -> dict[str, Any]:
        folder = self.folder / "found" / f"{group.slug}-{group.digest}"
        row = {"op": group.step, "detail": group.detail, "folder": str(folder), "title": "", "verdict": "failed",
               "cause": ""}
        try:
            done = folder / "report.json"
            report = json.loads(done.read_bytes()) if done.exists() else self._reduce(group, folder)
            row["verdict"], row["cause"] = report["verdict"], report.get("diagnosis", {}).get("cause", "")
            script = folder / "repro.py"
            row["title"] = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) if script.exists() else ""
        except MinreproError as error:
            row["detail"] = f"{error} ({group.detail})"
        except Exception as error:
            # Our bug, but the other groups are worth going on for.
            row["detail"] = f"this is our bug, see error.txt: {type(error).__name__}: {error} ({group.detail})"
            (folder / "error.txt").write_text(traceback.format_exc(), encoding="utf-8")
        return row

    def _reduce(self, group: Group, folder: Path) -> dict[str, Any]:
        case = case_of(group.items[0], *self.specs, group.pinned)
        options = Options("", self.specs[1], self.specs[0], deadline_s=self.deadline_s, max_seconds=120.0)
        run = Run(options, folder, Listener())
        run.start_at(case)
        return run.execute()
