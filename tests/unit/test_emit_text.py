"""Templates, issue texts and scrubbing, without a framework."""

from __future__ import annotations

import ast
import getpass
import tempfile
from pathlib import Path

import msgspec
import pytest

from minrepro import backends
from minrepro.emit import emit, template
from minrepro.emit.scrub import scrub
from minrepro.emit.shipped import folder
from minrepro.errors import InternalError
from minrepro.ir.graph import Graph, Node, Ref
from minrepro.ir.outcome import Crashed, Raised
from minrepro.verify.same import difference
from tests.findings import FINDINGS, TRANSPOSED, done, finding, tensor

TRACKER = {
    "pytorch": ("### 🐛 Describe the bug", "### Versions"),
    "paddle": ("### bug描述 Describe the Bug", "### 其他补充信息 Additional Supplementary Information"),
    "oneflow": ("## Summary", "## Code to reproduce bug", "## System Information"),
    "numpy": ("### Describe the issue:", "### Reproduce the code example:", "### Python and NumPy Versions:"),
}


@pytest.mark.parametrize("kind", template.kinds())
def test_a_template_is_python_before_it_is_filled(kind):
    text = template.read(kind)
    ast.parse(text)
    assert text.startswith("# /// script\n") and "sys.exit(125)" in text


def test_every_tracker_has_its_template():
    for backend in backends.table().values():
        assert (folder("templates") / f"{backend.tracker}.md").is_file()
        assert backend.tracker in TRACKER


@pytest.mark.parametrize(
    ("holes", "words"),
    [
        ({"SETUP": ["x = 1"]}, "nobody filled the hole SAME"),
        ({"SETUP": ["x = ("], "SAME": "x"}, "expected Python for SETUP"),
        ({"SETUP": ["x = 1"], "SAME": "x = 1"}, "expected Python for SAME"),
        ({"SETUP": [], "SAME": "1", "WHY": "two\nlines"}, "would end their comment"),
    ],
)
def test_a_bad_filling_is_refused(holes, words):
    with pytest.raises(InternalError, match=words):
        template.fill("SETUP\nprint(SAME)  # WHY\n", {"WHY": ""} | holes)


def test_statements_keep_their_indent_and_empty_ones_their_line():
    text = template.fill("NOTES\nif SAME:\n    SETUP\n", {"NOTES": [], "SAME": "x", "SETUP": ["a = 1", "b = 2"]})
    assert text == "if x:\n    a = 1\n    b = 2\n"
    assert template.fill("f()  # WHY\n", {"WHY": ""}) == "f()\n"


@pytest.mark.parametrize("name", ["torch_copy", "paddle_index", "oneflow_var"])
def test_an_issue_has_the_tracker_s_headings_and_nothing_private(name, tmp_path):
    repro = emit(FINDINGS[name], tmp_path)
    text = Path(repro.issue).read_text()
    tracker = backends.table()[name.partition("_")[0]].tracker
    assert all(heading in text for heading in TRACKER[tracker])
    assert repro.text in text and FINDINGS[name].why in text
    assert "$" not in text.replace("$OUT", "") and "/home" not in text and "ada" not in text
    assert "model.py:7" in text


def test_a_replay_does_not_pass_for_a_live_report(tmp_path):
    repro = emit(FINDINGS["torch_copy"], tmp_path)
    text = Path(repro.issue).read_text()
    assert text.startswith("> **REPLAY of a historical bug, do not file.**")
    assert "# REPLAY of a historical bug, do not file: PyTorch" in text
    assert "REPLAY of a historical bug (OneFlow before its fix of September 2021)" in repro.text
    live = Path(emit(FINDINGS["paddle_index"], tmp_path).issue).read_text()
    assert "REPLAY" not in live and "confirmed" not in live
    assert "| make the source contiguous | equal | equal | confirmed |" in text and "Ruled out: transposed" in text


def test_names_are_those_a_maintainer_expects(tmp_path):
    x, w = tensor([[1.0, 2.0]]), tensor([[3.0], [4.0]], layout=TRANSPOSED)
    feeds = {"input": x, "weight": w}
    one = finding("torch", "linear", feeds, {}, "value", done(tensor([[0.0]])), tensor([[11.0]]))
    text = emit(one, tmp_path).text
    assert "w = torch.tensor([[3.0], [4.0]]).t()\ny = F.linear(x, w)\n" in text


def test_a_case_of_two_steps_and_the_wrong_reference(tmp_path):
    one = FINDINGS["torch_broadcast"]
    nodes = (Node("relu", {"self": Ref("self")}, ("mid",)), Node("neg", {"self": Ref("mid")}, ("out",)))
    case = msgspec.structs.replace(one.case, graph=Graph(("self",), nodes, ("out",)), candidate="paddle")
    two = msgspec.structs.replace(one, case=case, side="reference")
    with pytest.raises(InternalError, match="inner value 'mid'"):
        emit(two, tmp_path)
    text = emit(two, tmp_path, specs={"mid": tensor([[1.5, 1.5, 1.5]]).spec}).text
    assert "import torch\n" in text and "h = F.relu(x)\ny = -h\n" in text


def test_a_large_result_is_compared_whole_and_shown_at_its_worst_element(tmp_path):
    value = tensor([[float(i) for i in range(100)]])
    one = finding("torch", "relu", {"self": value}, {}, "value", done(value), value)
    worst = msgspec.structs.replace(one.divergence, index=(0, 7))
    text = emit(msgspec.structs.replace(one, divergence=worst), tmp_path).text
    assert 'print("expected:", expected[0, 7].item(), \'at [0, 7]\')' in text
    assert "np.array_equal(actual, expected)" in text and len(text.splitlines()) <= 25


def test_what_no_script_can_show_is_an_error(tmp_path):
    one = msgspec.structs.replace(FINDINGS["oneflow_divide"], outcome=Crashed("memory limit"))
    with pytest.raises(InternalError, match="memory limit"):
        emit(one, tmp_path)


def test_an_exception_class_of_the_framework_is_caught_by_name(tmp_path):
    one = msgspec.structs.replace(FINDINGS["oneflow_var"], outcome=Raised("EnforceNotMet", "x"))
    text = emit(one, tmp_path).text
    assert "except Exception as error:\n    if type(error).__name__ != 'EnforceNotMet':\n        raise\n" in text


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("at /home/ada/nets/model.py:7 in f", "at model.py:7 in f"),
        ("File \"/opt/venv/lib/python3.11/site-packages/torch/nn/x.py\"", "File \"torch/nn/x.py\""),
        (f"{tempfile.gettempdir()}/run/1.log", "1.log"),
        (f"{Path.home()}/x.py", "x.py"),
        ("C:\\Users\\Ada\\net.py", "net.py"),
        ("(at /paddle/paddle/phi/core/x.cc:12)", "(at /paddle/paddle/phi/core/x.cc:12)"),
        ("GPU-6f0c9a2e-1b7d-4a3e-9d2f-0123456789ab", "UUID"),
        ("ran by ada on box1", "ran by user on user"),
    ],
)
def test_scrubbing(text, clean):
    assert scrub(text, private=("ada", "box1")) == clean


def test_the_own_user_name_goes_but_ordinary_words_stay():
    user = getpass.getuser()
    assert scrub("the root of the main module") == "the root of the main module"
    if len(user) > 2 and user not in ("root", "user", "admin", "main", "runner"):
        assert user not in scrub(f"made by {user}")


def test_data_is_found_in_the_source_tree_and_in_a_wheel(tmp_path):
    assert (folder("templates") / "value.py").is_file()
    (tmp_path / "minrepro" / "shipped" / "templates").mkdir(parents=True)
    assert folder("templates", tmp_path / "minrepro") == tmp_path / "minrepro" / "shipped" / "templates"
    with pytest.raises(InternalError, match="reinstall"):
        folder("corpus", tmp_path / "minrepro")


GOOD = {
    "paddle_index": "expected: [[2.0], [3.0]]\nactual:   [[1.0], [3.0]]\n",
    "paddle_logsumexp": "noise\nexpected: -inf\nactual:   nan\n",
    "oneflow_var": "expected: 0.5\nactual:   IndexError: Dimension out of range (expected to be in range of [-2, 1], "
    "but got 2)\n",
    "oneflow_divide": "expected: exit 42 (the call returns)\nactual:   SIGFPE\n",
    "torch_hang": "expected: exit 42 (the call returns)\nactual:   SIGALRM\n",
    "paddle_accepts": "expected: an exception\nactual:   [1.0]\n",
    "oneflow_negate": "expected: int32\nactual:   float32\n",
}


@pytest.mark.parametrize("name", sorted(GOOD))
def test_the_divergence_of_the_finding_counts(name):
    assert difference(FINDINGS[name].signature, GOOD[name]) is None


@pytest.mark.parametrize(
    ("name", "printed", "words"),
    [
        ("paddle_index", "", "found neither"),
        ("paddle_index", "expected: [1.0]\nactual:   [1.0]\n", "are both"),
        ("paddle_index", "expected: [1.0]\nactual:   [nan]\n", "found nonfinite"),
        ("paddle_logsumexp", "expected: 1.0\nactual:   2.0\n", "found value"),
        ("oneflow_var", "expected: 0.5\nactual:   KeyError: 'x'\n", "expected IndexError"),
        ("oneflow_var", "expected: 0.5\nactual:   IndexError: list index out of range\n", "expected the message"),
        ("oneflow_divide", "expected: exit 42 (the call returns)\nactual:   SIGSEGV\n", "SIGFPE, found SIGSEGV"),
        ("torch_hang", "expected: exit 42 (the call returns)\nactual:   SIGSEGV\n", "SIGALRM"),
    ],
)
def test_another_divergence_does_not(name, printed, words):
    assert words in difference(FINDINGS[name].signature, printed)


def test_a_known_dtype_must_match():
    signature = FINDINGS["oneflow_negate"].signature
    why = difference(signature, "expected: int32\nactual:   bool\n", "float32")
    assert "expected the dtype float32" in why
