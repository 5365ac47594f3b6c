"""What `minrepro align` says beside the table: of errors that are due, of what hangs, of wrong input, in two languages."""

from __future__ import annotations

from pathlib import Path

from tests.live.test_align_cases import align, rows

__all__ = ["align"]
HERE = Path(__file__).parent
MODELS = HERE / "models/said.py"


def sides(model: str, framework: str, port: str = "") -> list[str]:
    return ["--model", f"{MODELS}:{model}", "--port", f"{HERE}/models/said_{framework}.py:{port or model}"]


def test_an_error_that_the_reference_raises_too_is_not_scripted(align, tmp_path):
    status, report = align(*sides("patches", "oneflow", "patches_unstrided"), candidate="oneflow")
    assert status == 1 and rows(report, "port") == ["proj"]
    call = report["call"]
    assert call["call"] == "x0.reshape(2, 3, 2, 3, 2, 6)" and "PyTorch refuses this call, too (RuntimeError:" in call["why"]
    assert not call["path"] and not call["alike"] and not (tmp_path / "run/repro.py").exists()
    assert call["error"].startswith("RuntimeError: Error: shape") and "\x1b" not in str(report)
