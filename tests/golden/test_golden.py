"""The emitted scripts, word for word: ``pytest tests/golden --update-golden`` rewrites them for a person to read."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from minrepro.emit import emit
from tests.findings import FINDINGS

FOLDER = Path(__file__).parent
MOST_LINES = {"value": 22, "exception": 25, "accepted": 22, "crash": 26, "hang": 26}


@pytest.mark.parametrize("name", sorted(FINDINGS))
def test_script_is_as_recorded(name, tmp_path, update_golden):
    text = emit(FINDINGS[name], tmp_path).text
    path = FOLDER / f"{name}.py"
    if update_golden:
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), "read the difference, then run with --update-golden"


def test_no_golden_is_left_over():
    assert {path.stem for path in FOLDER.glob("*.py")} == {*FINDINGS, "test_golden"}


@pytest.mark.parametrize("name", sorted(FINDINGS))
def test_script_is_short_and_stands_alone(name, tmp_path):
    finding = FINDINGS[name]
    repro = emit(finding, tmp_path)
    tree = ast.parse(repro.text)
    imported = {
        (node.module if isinstance(node, ast.ImportFrom) else alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    framework = finding.case.candidate.partition("+")[0]
    assert framework in imported
    assert imported <= {framework, "numpy", "math", "os", "signal", "sys"}
    bound = {alias.asname or alias.name.partition(".")[0] for node in ast.walk(tree)
             if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert bound <= used, "an import is not used"
    assert repro.lines == len(repro.text.splitlines()) <= (20 if "copy" in name else 25)
    assert not re.search(r"minrepro|/home/|ada|[A-Z]{4,}_?[A-Z]* = ", repro.text)
    assert max(map(len, repro.text.splitlines())) <= 140


def test_the_header_pins_what_the_worker_had(tmp_path):
    assert '"torch==2.13.0"' in emit(FINDINGS["torch_copy"], tmp_path).text
    oneflow = emit(FINDINGS["oneflow_fill"], tmp_path).text
    assert '"oneflow==0.9.0"' in oneflow and '"numpy<2"' in oneflow and ">=3.8,<3.11" in oneflow
