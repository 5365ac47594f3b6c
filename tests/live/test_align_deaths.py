"""What `minrepro align` says of a port whose process dies or hangs: the call, reduced and scripted, or the port's own line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.live.test_align_cases import align, rows

__all__ = ["align"]
HERE = Path(__file__).parent
MODELS = HERE / "models/dying.py"
FAULTS = HERE.parent / "faults"


def sides(model: str, framework: str, port: str = "") -> list[str]:
    return ["--model", f"{MODELS}:{model}", "--port", f"{HERE}/models/dying_{framework}.py:{port or model}"]


def line(framework: str, text: str) -> int:
    """Number of the line of a port that has this text."""
    lines = (HERE / f"models/dying_{framework}.py").read_text().splitlines()
    return next(number for number, found in enumerate(lines, 1) if text in found)


@pytest.mark.parametrize(("model", "framework", "call", "ended", "text"), [
    ("weighted", "oneflow", "oneflow.matmul(x0, x1)", "SIGABRT", "flow.matmul("),
    ("buckets", "oneflow", "x0 // x1", "SIGFPE", "ids // width"),
    ("spectrum", "paddle", "paddle.linalg.eig(x0)", "exit 0", "eig(scaled)"),
])
def test_the_call_that_ends_the_process_is_reduced_and_scripted(align, model, framework, call, ended, text):
    status, report = align(*sides(model, framework), candidate=framework)
    assert (status, report["verdict"]) == (1, "crash")
    assert (report["call"]["call"], report["call"]["error"]) == (call, ended)
    assert report["call"]["where"].endswith(f"dying_{framework}.py:{line(framework, text)}")
    assert (report["call"]["reproduced"], report["call"]["runs"]) == (3, 3) and report["call"]["lines"] <= 25
    assert rows(report, "dies") == [""] and rows(report, "same") == ["fc"]


def test_a_layer_of_the_framework_that_ends_the_process_later_is_found(align):
    status, report = align(
        "--model", f"{MODELS}:smooth", "--port", f"{MODELS}:smooth", candidate=f"torch+replay:{FAULTS}/gelu_segfault.py")
    assert (status, report["verdict"], rows(report, "dies")) == (1, "crash", ["act"])
    assert report["call"]["call"] == "torch.nn.functional.gelu(x0)" and report["call"]["reproduced"] == 3


def test_a_call_that_never_returns_is_reduced_and_scripted(align):
    status, report = align(
        "--model", f"{MODELS}:gate", "--port", f"{MODELS}:gate", "--deadline", "8",
        candidate=f"torch+replay:{FAULTS}/softmax_hang.py")
    assert (status, report["verdict"], rows(report, "hangs")) == (1, "hang", [""])
    assert report["call"]["call"] == "torch.softmax(x0, -1)" and report["call"]["reproduced"] == 3


@pytest.mark.parametrize(("port", "text", "verdict", "words"), [
    ("leaves", "os._exit(3)", "crash", "died (exit 3)"), ("circles", "count += 1", "hang", "did not answer for 6 s"),
    ("turns", "            x = F.softmax", "hang", "did not answer for 6 s"),
    ("shoots", "self.armed and os.kill", "crash", "died (SIGSEGV)"),
])
def test_an_end_of_the_ports_own_is_not_the_frameworks(align, port, text, verdict, words):
    status, report = align(*sides("gate", "paddle", port), *(["--deadline", "6"] if verdict == "hang" else []))
    told = report["failure"]["blame"]
    assert (status, report["verdict"], report["call"], told["error"]) == (1, verdict, None, words)
    assert told["message"].startswith("in the port's own code: ") and rows(report, "same") == ["a"]
    assert told["file"].endswith("dying_paddle.py") and told["line"] - line("paddle", text) in (0, -1)


def test_a_reference_that_hangs_is_said_with_its_line(align):
    status, message = align("--model", f"{MODELS}:endless", *sides("gate", "paddle")[2:], "--deadline", "12")
    number = MODELS.read_text().splitlines().index("            x = torch.softmax(x, -1)") + 1
    assert status == 2 and f"{MODELS}:endless: its process did not answer for 12 s " in message
    assert any(f"dying.py:{number - step}." in message for step in (0, 1)) and "Timeout" not in message


@pytest.mark.parametrize(("convert", "text", "words"), [
    ("converts_forever", "    while True:  # no state", "did not answer for 8 s"), ("converts_to_death", "", "died (exit 5)")])
def test_a_converter_that_never_returns_or_dies_is_named(align, convert, text, words):
    path = HERE / "models/dying_paddle.py"
    status, message = align(*sides("gate", "paddle"), "--convert", f"{path}:{convert}", "--deadline", "8")
    where = f" at {path}:{line('paddle', text)}".replace(f"{HERE.parents[1]}/", "") if text else ""
    assert status == 2 and f"gate: the converter dying_paddle.py:{convert} {words}{where}." in message


def test_a_port_that_dies_while_it_is_built_is_located(align, tmp_path):
    status, message = align(*sides("gate", "paddle", "unbuilt"))
    assert status == 2 and f"dying_paddle.py:{line('paddle', 'full([2, 2]')}: in paddle.linalg.eig(x0)" in message
    assert (tmp_path / "run/repro.py").exists()


def test_a_backward_that_ends_the_process_does_not_cost_the_forward(align):
    status, report = align(*sides("sampled", "paddle"), "--backward")
    assert status == 1 and rows(report, "same") == ["", "fc"]
    assert [row["unit"] for row in report["rows"] if "died (SIGSEGV)" in row["gradient"]["note"]] == [""]
