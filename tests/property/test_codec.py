"""Whatever is stored comes back bit for bit, and nothing hostile is read."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minrepro.errors import UsageError
from minrepro.ir import codec
from minrepro.ir.case import Case
from minrepro.ir.divergence import Divergence
from minrepro.ir.dtype import DTYPES
from minrepro.ir.graph import Graph, Node, Ref
from minrepro.ir.outcome import Completed, Crashed, Raised, TimedOut, Unspelled
from minrepro.ir.reduction import Diagnosis, Finding, Probe
from minrepro.ir.signature import Signature
from minrepro.ir.tensor import Expand, Layout, Permute, Slice, Strided, Tensor


@st.composite
def layouts(draw, shape):
    """A chain of at most three links that fits `shape`, and never blows up."""
    links, view = [], np.empty(shape, np.int8)
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(["permute", "slice", "expand", "strided"]))
        if kind == "permute" and view.ndim:
            link = Permute(tuple(draw(st.permutations(range(view.ndim)))))
        elif kind == "slice" and view.ndim:
            axis = draw(st.integers(0, view.ndim - 1))
            start = draw(st.integers(0, view.shape[axis]))
            step = draw(st.integers(1, 3))
            length = draw(st.integers(0, len(range(start, view.shape[axis], step))))
            link = Slice(axis, start, step, length, view.shape[axis])
        elif kind == "expand" and 1 in view.shape:
            link = Expand(view.shape.index(1), draw(st.integers(0, 3)))
        elif kind == "strided" and view.size >= 3:
            link = Strided((2, 2), (1, 1), draw(st.integers(0, view.size - 3)))
        else:
            continue
        links.append(link)
        view = link.apply(view)
    return Layout(tuple(links))


@st.composite
def tensors(draw):
    """Any dtype with any bits (NaN payloads, infinities, -0.0), any layout, empty and 0-d included."""
    of = DTYPES[draw(st.sampled_from(sorted(DTYPES)))]
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
    count = math.prod(shape)
    raw = draw(st.binary(min_size=count * of.storage.itemsize, max_size=count * of.storage.itemsize))
    if of.kind == "bool":
        raw = bytes(byte & 1 for byte in raw)
    return Tensor(np.frombuffer(raw, of.storage).reshape(shape), of, draw(layouts(shape)))


floats = st.floats(allow_nan=True, allow_infinity=True)
scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), floats, st.complex_numbers(allow_nan=True, allow_infinity=True),
    st.text(), st.sampled_from(sorted(DTYPES)).map(DTYPES.get), st.just(Ref("x")),
)
args = st.recursive(scalars, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=6)


def same(a, b):
    """Equal with NaN equal to NaN and -0.0 different from 0.0."""
    return repr(a) == repr(b)


@given(tensors())
def test_a_tensor_survives_bit_for_bit(tensor):
    back = codec.from_plain(json.loads(json.dumps(codec.plain(tensor), allow_nan=False)), Tensor)
    assert back == tensor
    assert back.base.dtype == tensor.base.dtype and back.view.tobytes() == tensor.view.tobytes()
    assert back.view.strides == tensor.view.strides


@settings(max_examples=60)
@given(tensors(), st.dictionaries(st.from_regex(r"[a-z]\w{0,5}", fullmatch=True), args, max_size=4))
def test_a_case_survives(tensor, extra):
    node = Node("add", {"self": Ref("x"), **extra}, ("y",), "blocks.0", "model.py:3")
    case = Case(Graph(("x",), (node,), ("y",)), {"x": tensor}, "torch", "paddle==3.0.0", "load", 2, 7, True)
    back = codec.decode(codec.encode(case))
    assert back.feeds["x"] == tensor
    assert same(back.graph, case.graph)
    assert (back.reference, back.candidate, back.mode, back.threads, back.seed, back.terse) == (
        "torch", "paddle==3.0.0", "load", 2, 7, True,
    )
    assert codec.encode(back) == codec.encode(case)


@pytest.mark.parametrize(
    "outcome",
    [
        Completed({"y": Tensor(np.arange(3, dtype=np.float32))}, 0.5),
        Raised("ValueError", "bad", "torch/x.py:f", "y"),
        Crashed("SIGFPE", "y", "log"),
        TimedOut(3.0),
        Unspelled("no"),
    ],
)
def test_a_finding_survives_with_every_outcome(outcome):
    tensor = Tensor(np.ones((2, 2), np.float32), layout=Layout((Permute((1, 0)),)))
    case = Case(Graph(("x",), (Node("t", {"self": Ref("x")}, ("y",)),), ("y",)), {"x": tensor}, "torch", "oneflow")
    finding = Finding(
        case, "candidate", Divergence("value", "candidate", "y", (0, 1), "1", "2", ratio=math.inf), {"y": tensor},
        "bits", {"y": 0.0}, outcome, Signature("value", "candidate", ("t",)),
        Diagnosis("layout", "candidate", "s", (Probe("a", "b", "c", True),)), {"torch": "2"},
    )
    assert codec.kind_of(codec.encode(finding)[:100]) == "Finding" and codec.kind_of(b"{}") == ""
    back = codec.decode(codec.encode(finding), Finding)
    assert back == finding and type(back.outcome) is type(outcome)


def stored(**changes):
    """A small stored case as parsed JSON, changed along dotted paths."""
    case = Case(
        Graph(("x",), (Node("t", {"self": Ref("x")}, ("y",)),), ("y",)), {"x": Tensor(np.zeros((2, 2), np.float32))},
        "torch", "paddle",
    )
    data = json.loads(codec.encode(case))
    for path, value in changes.items():
        *parents, last = path.split("__")
        target = data
        for key in parents:
            target = target[key]
        target[last] = value
    return json.dumps(data).encode()


PERMUTE = {"type": "permute", "order": [0, 0]}
EXPAND = {"type": "expand", "axis": 0, "size": 3}
SLICE = {"type": "slice", "axis": 0, "start": 0, "step": 1, "length": 9, "extent": 2}
STRIDED = {"type": "strided", "shape": [9, 9], "strides": [1, 1], "offset": 0}
BACKWARDS = {"type": "strided", "shape": [2], "strides": [-1], "offset": 1}


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "expected JSON"),
        (stored()[:80], "truncated"),
        (b"[" * 100_000, "expected JSON"),
        (b'{"format": 1, "kind": "Case", "value": ' + b"[" * 400 + b"]" * 400 + b"}", "Expected"),
        (b"[]", "malformed envelope"),
        (stored(format=99), "install a newer minrepro"),
        (stored(format="1"), "malformed envelope"),
        (stored(kind="Finding"), "expected a Case, found a Finding"),
        (stored(value__mode="sideways"), "unknown mode"),
        (stored(value__feeds={}), "has no feed"),
        (stored(value__threads="many"), "Expected `int`"),
        (stored(value__graph__outputs=["z"]), "not defined"),
        (stored(value__feeds__x__dtype="float7"), "expected a dtype"),
        (stored(value__feeds__x__data="AAAA"), "expected 16 bytes"),
        (stored(value__feeds__x__data="?"), "expected base64"),
        (stored(value__feeds__x__shape=[-2, -2]), "sizes from 0 on"),
        (stored(value__feeds__x__shape=[1 << 80, 0]), "sizes from 0 on"),
        (stored(value__feeds__x__dtype="bool", value__feeds__x__shape=[1], value__feeds__x__data="Ag=="), "bool bytes"),
        (stored(value__feeds__x__layout=[PERMUTE]), "does not fit"),
        (stored(value__feeds__x__layout=[EXPAND]), "does not fit"),
        (stored(value__feeds__x__layout=[SLICE]), "does not fit"),
        (stored(value__feeds__x__layout=[STRIDED]), "reaches item"),
        (stored(value__feeds__x__layout=[BACKWARDS]), "does not fit"),
        (stored(value__feeds__x__pickle="x"), "unknown field"),
        (stored(value__graph__inputs=[{"$eval": "1"}]), "expected $ref"),
    ],
)
def test_what_is_not_ours_is_refused(data, words):
    with pytest.raises(UsageError, match=".*") as caught:
        codec.decode(data)
    assert words in str(caught.value)


def test_a_text_beyond_the_limit_is_not_parsed():
    with pytest.raises(UsageError, match="at most 10 bytes"):
        codec.decode(stored(), limit_bytes=10)


@settings(max_examples=200)
@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=3))
def test_damage_is_refused_or_harmless(where, junk):
    data = stored()
    where %= len(data)
    try:
        back = codec.decode(data[:where] + junk + data[where + len(junk) :])
    except UsageError:
        return
    assert back.lint() is None
