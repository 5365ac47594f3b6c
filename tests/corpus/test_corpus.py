"""Stored bugs: the same bug once, nothing hostile read, and every shipped entry in order."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path

import msgspec
import pytest

from minrepro import backends, corpus, replays
from minrepro.corpus.entry import LIMITS, dump
from minrepro.emit import emit
from minrepro.emit.shipped import folder
from minrepro.environments import Environment
from minrepro.errors import BackendMissing, UsageError
from minrepro.ir import codec
from minrepro.ir.graph import Graph, Node
from minrepro.ir.reduction import Verified
from tests.findings import FINDINGS, tensor

SHIPPED = tuple(sorted(path.parent for path in folder("corpus").glob("*/*/entry.toml")))
GOOD = Verified(3, 3, (1, 1, 1))


@pytest.fixture
def stored(tmp_path):
    """An entry made of a finding that says it was verified."""
    one = FINDINGS["paddle_index"]
    repro = emit(one, tmp_path / "run")
    return corpus.store(one, repro, GOOD, {"nodes": 12, "model": "/home/ada/net.py"}, tmp_path / "corpus")


def test_an_entry_reads_back(stored):
    entry = corpus.load(stored)
    assert entry.slug == stored.name and entry.slug.startswith("index-value-")
    assert entry.meta.title == "Paddle: indexing gives wrong values for a transposed view"
    assert entry.meta.signature == FINDINGS["paddle_index"].signature
    assert entry.case.feeds["self"] == FINDINGS["paddle_index"].case.feeds["self"]
    assert entry.original == {"nodes": 12, "model": "net.py"}
    assert not any("/home" in path.read_text() for path in stored.iterdir())
    assert {path.name for path in stored.iterdir()} == set(LIMITS)


def test_the_same_bug_is_stored_once_and_another_is_not_it(stored, tmp_path):
    one = FINDINGS["paddle_index"]
    home = tmp_path / "corpus"
    renamed = Graph(
        ("a", "b"),
        tuple(Node(n.op, {"self": codec.Ref("a"), "indices": (None, codec.Ref("b"))}, ("r",), "other", "z.py:1")
              for n in one.case.graph.nodes),
        ("r",),
    )
    feeds = dict(zip(renamed.inputs, one.case.feeds.values()))
    again = msgspec.structs.replace(
        one, case=msgspec.structs.replace(one.case, graph=renamed, feeds=feeds, candidate="paddle==3.3.1@/x/python"),
        divergence=msgspec.structs.replace(one.divergence, output="r"),
        expected={"r": one.expected["out"]}, bound={"r": 0.0},
    )
    assert corpus.store(again, emit(again, tmp_path / "b"), GOOD, {}, home) == stored
    feeds["b"] = tensor([0], "int64")
    other = msgspec.structs.replace(again, case=msgspec.structs.replace(again.case, feeds=feeds))
    place = corpus.store(other, emit(other, tmp_path / "c"), GOOD, {}, home)
    assert place != stored
    assert "/x/python" not in (place / "case.json").read_text()
    assert [entry.slug for entry in corpus.entries(home)] == sorted([stored.name, place.name])


@pytest.mark.parametrize("verified", [Verified(3, 2, (1, 1, 0)), Verified(3, 3, (1, 1, 1), 1), Verified(0, 0, ())])
def test_an_unverified_run_is_refused(verified, tmp_path):
    one = FINDINGS["torch_copy"]
    with pytest.raises(UsageError, match="only verified bugs are stored"):
        corpus.store(one, emit(one, tmp_path), verified, {}, tmp_path / "corpus")


def test_a_run_folder_is_stored_and_an_unfinished_one_refused(tmp_path):
    one = FINDINGS["oneflow_fill"]
    repro = emit(one, tmp_path)
    (tmp_path / "6-emit.json").write_bytes(codec.encode(repro))
    (tmp_path / "5-finding.json").write_bytes(codec.encode(one))
    (tmp_path / "report.json").write_text(json.dumps({"original": {"nodes": 3}}))
    with pytest.raises(UsageError, match="no stored Verified"):
        corpus.add(tmp_path, tmp_path / "corpus")
    (tmp_path / "7-verify.json").write_bytes(codec.encode(GOOD))
    place = corpus.add(tmp_path, tmp_path / "corpus")
    assert corpus.load(place).original == {"nodes": 3} and place.parent.name == "oneflow"
    (tmp_path / "6-emit.json").write_bytes(codec.encode(msgspec.structs.replace(repro, text=repro.text + "#")))
    with pytest.raises(UsageError, match="changed after it was verified"):
        corpus.add(tmp_path, tmp_path / "elsewhere")


def rewrite(place: Path, name: str, old: str, new: str) -> None:
    """Replace text in a file of an entry."""
    path = place / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def alter(name: str, old: str, new: str):
    """A change to an entry, for parametrising."""
    return lambda place: rewrite(place, name, old, new)


def interpreter(place: Path) -> None:
    """Let the case name an interpreter."""
    rewrite(place, "case.json", '"candidate": "paddle"', '"candidate": "paddle@/tmp/evil"')


def link(place: Path) -> None:
    """Let the script be a link that leads out of the entry."""
    (place / "repro.py").rename(place.parent / "outside.py")
    (place / "repro.py").symlink_to(place.parent / "outside.py")


DAMAGE = {
    "script": (lambda place: (place / "repro.py").write_text("import os\n"), "was changed"),
    "gone": (lambda place: (place / "case.json").unlink(), "found nothing"),
    "link": (link, "found a link"),
    "huge": (lambda place: (place / "entry.toml").write_bytes(b"#" * (LIMITS["entry.toml"] + 1)), "expected at most"),
    "truncated toml": (lambda place: (place / "entry.toml").write_text('title = "x'), "entry.toml is malformed"),
    "binary toml": (lambda place: (place / "entry.toml").write_bytes(b"\xff\xfe"), "entry.toml is malformed"),
    "newer toml": (alter("entry.toml", "format = 1", "format = 9"), "install a newer minrepro"),
    "unknown key": (alter("entry.toml", "threads = 1", "threads = 1\nrun = 'rm'"), "unknown field"),
    "wrong type": (alter("entry.toml", "threads = 1", "threads = 'many'"), "Expected `int`"),
    "framework": (alter("entry.toml", 'framework = "paddle"', 'framework = "../../etc"'), "unknown framework"),
    "replay": (alter("entry.toml", 'replay = ""', f"replay = {json.dumps(__file__)}"), "unknown replay"),
    "truncated case": (lambda place: (place / "case.json").write_text('{"format": 1, "ki'), "truncated"),
    "newer case": (alter("case.json", '"format": 1', '"format": 9'), "install a newer minrepro"),
    "not a case": (alter("case.json", '"kind": "Case"', '"kind": "Finding"'), "expected a Case"),
    "interpreter": (interpreter, "an entry must not"),
    "backend": (alter("case.json", '"reference": "torch"', '"reference": "os.system"'), "cannot read the backend"),
    "original": (lambda place: (place / "original.json").write_text("[]"), "expected an object"),
    "original text": (lambda place: (place / "original.json").write_text("{"), "cannot be read"),
}


@pytest.mark.parametrize("name", sorted(DAMAGE))
def test_a_damaged_or_hostile_entry_is_refused(name, stored):
    damage, words = DAMAGE[name]
    damage(stored)
    with pytest.raises(UsageError) as caught:
        corpus.load(stored)
    assert words in str(caught.value)


def test_a_folder_that_is_none_is_refused(tmp_path):
    with pytest.raises(UsageError, match="expected the folder of a corpus entry"):
        corpus.load(tmp_path / "nowhere")


def test_any_text_survives_the_toml(stored):
    meta = corpus.load(stored).meta
    odd = msgspec.structs.replace(meta, title='a "b" \\ \x7f \x00 ü 深度 \U0001f41b\n', versions={"a.b c": "1"})
    (stored / "entry.toml").write_text(dump(odd), encoding="utf-8")
    assert corpus.load(stored).meta == odd


SAYS = {
    "reproduced": ("print('expected: [1.0]')\nprint('actual:   [2.0]')\nraise SystemExit(1)", "reproduced"),
    "fixed": ("print('expected: [1.0]')\nprint('actual:   [1.0]')", "fixed"),
    "missing": ("import nonsense_module", "cannot run"),
    "other": ("print('expected: [1.0]')\nprint('actual:   [nan]')\nraise SystemExit(1)", "cannot run"),
    "unable": ("raise SystemExit(125)", "cannot run"),
}


@pytest.mark.parametrize("name", sorted(SAYS))
def test_what_became_of_an_entry(name, stored):
    script, got = SAYS[name]
    entry = msgspec.structs.replace(corpus.load(stored), script=script)
    here = Environment("here", "paddle", "3.3.1", sys.executable, "", {}, 0)
    (row,) = corpus.replay([entry], lambda spec: here)
    assert (row.got, row.version, row.expected) == (got, "3.3.1", "reproduced")
    assert row.surprising == (got == "fixed")
    later = msgspec.structs.replace(here, version="9.9")
    assert corpus.replay([entry], lambda spec: later)[0].expected == "any"


def test_a_missing_framework_cannot_run(stored):
    def missing(spec):
        raise BackendMissing(f"add {spec.name}")

    (row,) = corpus.replay([corpus.load(stored)], missing)
    assert (row.got, row.detail, row.surprising) == ("cannot run", "add paddle", False)


@pytest.mark.parametrize("place", SHIPPED, ids=lambda place: place.name)
def test_a_shipped_entry_is_in_order(place):
    entry = corpus.load(place)
    assert place.parent.name == entry.meta.framework
    # Leaves, the way back and several gradients take lines of their own, and so does a child that may die.
    most = {"backward": 30, "second": 30}.get(entry.case.mode, 25)
    most += 4 if entry.meta.signature.symptom == "crash" else 0
    assert entry.case.lint() is None and len(entry.script.splitlines()) <= most
    assert ast.get_docstring(ast.parse(entry.script)) == entry.meta.title
    assert entry.meta.replay in ("", *replays.names())
    backend = backends.table()[entry.meta.framework]
    assert f'"{backend.package}==' in entry.script and "minrepro" not in entry.script


def test_there_is_a_shipped_corpus():
    assert len(SHIPPED) >= 8 and {place.parent.name for place in SHIPPED} == {"oneflow", "paddle", "torch"}
