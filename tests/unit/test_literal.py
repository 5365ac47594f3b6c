"""Source text of tensors, executed: the same bits, dtype and strides; short where short is exact."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minrepro.backends import table
from minrepro.emit import literal
from minrepro.ir.dtype import DTYPES, dtype, from_float64
from minrepro.ir.tensor import CONTIGUOUS, Expand, Layout, Permute, Slice, Strided, Tensor, from_numpy

NUMPY = table()["numpy"]


def execute(lines: list[str]) -> np.ndarray:
    """The array that emitted lines make."""
    space = {"np": np, "nan": math.nan, "inf": math.inf}
    exec("\n".join(lines), space)
    return space["x"]


def bits(array: np.ndarray) -> bytes:
    """Raw bytes, with every NaN made the same one: a literal cannot carry a payload."""
    if array.dtype.kind in "fc":
        parts = array.astype(array.dtype).reshape(-1).view(f"f{array.real.dtype.itemsize}").copy()
        parts[np.isnan(parts)] = np.nan
        return parts.tobytes()
    return array.tobytes()


@settings(max_examples=150)
@given(st.sampled_from(sorted(NUMPY.dtypes)), st.lists(st.integers(0, 3), max_size=3), st.data())
def test_numpy_reads_back_the_same_bits(name, shape, data):
    of = DTYPES[name]
    count = math.prod(shape) * of.storage.itemsize
    raw = data.draw(st.binary(min_size=count, max_size=count))
    raw = bytes(byte & 1 for byte in raw) if of.kind == "bool" else raw
    base = np.frombuffer(raw, of.storage).reshape(shape)
    layout = Layout((Permute(tuple(reversed(range(base.ndim)))),)) if base.ndim > 1 else CONTIGUOUS
    tensor = Tensor(base, of, layout)
    found = execute(literal.assignment("x", tensor, NUMPY))
    assert found.dtype == tensor.view.dtype and found.shape == tensor.shape
    assert bits(found) == bits(np.ascontiguousarray(tensor.view).reshape(tensor.shape))
    if found.size and 1 not in found.shape:
        assert found.strides == tensor.view.strides


@given(st.sampled_from(["float16", "bfloat16", "float32"]), st.binary(min_size=4, max_size=4))
def test_a_number_survives_every_way_a_framework_reads_it(name, raw):
    of = dtype(name)
    value = np.frombuffer(raw, of.storage)[:1].reshape(())[()]
    text = literal.real_text(value, of)
    number = eval(text, {"nan": math.nan, "inf": math.inf})
    for read in (np.float64(number), np.float64(np.float32(number))):
        assert bits(from_float64(read, of).reshape(1)) == bits(np.asarray(value).reshape(1)) or text == "nan"


@pytest.mark.parametrize(
    ("tensor", "text"),
    [
        (Tensor(np.zeros((2, 3), np.float32)), "torch.zeros([2, 3])"),
        (Tensor(np.ones((4, 4), np.int64)), "torch.ones([4, 4], dtype=torch.int64)"),
        (Tensor(np.full((3, 2), 2.5, np.float32)), "torch.full([3, 2], 2.5)"),
        (Tensor(np.arange(8, dtype=np.float32).reshape(2, 4)), "torch.arange(8.0).reshape([2, 4])"),
        (Tensor(np.arange(1, 9)), "torch.arange(1, 9, dtype=torch.int64)"),
        (Tensor(np.array([-0.0, 0.0], np.float32)), "torch.tensor([-0.0, 0.0])"),
        (Tensor(np.array([0.1, 1e-7], np.float32)), "torch.tensor([0.1, 1e-07])"),
        (Tensor(np.array(3.0)), "torch.tensor(3.0, dtype=torch.float64)"),
        (Tensor(np.array([True, False])), "torch.tensor([True, False])"),
        (Tensor(np.array([np.nan, -np.inf], np.float32)), "torch.tensor([nan, -inf])"),
        (Tensor(np.array([1 + 2j], np.complex64)), "torch.tensor([complex(1.0, 2.0)], dtype=torch.complex64)"),
        (Tensor(np.zeros((0, 2), np.int32)), "torch.zeros([0, 2], dtype=torch.int32)"),
    ],
)
def test_the_shortest_exact_text_is_taken(tensor, text):
    assert literal.dense(tensor, table()["torch"]) == text


@pytest.mark.parametrize(
    ("layout", "lines"),
    [
        (Layout((Permute((1, 0)),)), ["x = torch.zeros([2, 3]).t()"]),
        (Layout((Slice(1, 0, 2, 2, 3),)), ["x = torch.zeros([2, 3])[:, ::2]"]),
        (Layout((Slice(0, 1, 1, 1, 2), Permute((1, 0)))), ["x = torch.zeros([2, 3])[1:].t()"]),
        (Layout((Slice(0, 0, 1, 1, 2), Expand(0, 4))), ["x = torch.zeros([2, 3])[:1].expand([4, 3])"]),
        (Layout((Strided((2, 2), (1, 1), 1),)), ["x = torch.zeros([2, 3]).as_strided([2, 2], [1, 1], 1)"]),
    ],
)
def test_a_layout_is_a_chain_of_views(layout, lines):
    assert literal.assignment("x", Tensor(np.zeros((2, 3), np.float32), layout=layout), table()["torch"]) == lines


def test_a_large_tensor_is_bytes_and_a_middling_one_is_wrapped():
    rng = np.random.RandomState(0)
    middling, large = (from_numpy(rng.standard_normal((n, 40)).astype(np.float32).T) for n in (3, 20))
    for tensor, words in ((middling, "np.array([["), (large, "np.frombuffer(bytes.fromhex(")):
        lines = literal.assignment("x", tensor, NUMPY)
        assert words in lines[0] and max(map(len, lines)) <= literal.WIDTH
        found = execute(lines)
        assert found.tobytes() == tensor.view.tobytes() and found.strides == tensor.view.strides


def test_infinities_are_found_by_name():
    assert literal.special("x = [nan, -inf]") == ["inf", "nan"]
    assert literal.special("y = F.pad(x, value=float('-inf')); info = nanmean(x)") == []
