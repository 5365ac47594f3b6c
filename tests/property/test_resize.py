"""Cropping keeps the kind of layout and the values; removing one link of a layout keeps the values."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from minrepro.ir.tensor import Expand, Layout, Permute, Slice, Strided, Tensor
from minrepro.shrink.passes.rank_lower import squeezed
from minrepro.shrink.resize import resize, straightened


@st.composite
def viewed(draw, strided: bool = False):
    """A tensor of distinct values under up to three views that leave every axis at least one item."""
    shape = tuple(draw(st.lists(st.integers(1, 6), min_size=1, max_size=3)))
    base = np.arange(1, math.prod(shape) + 1, dtype=np.float32).reshape(shape)
    links, view = [], base
    for _ in range(draw(st.integers(0, 3))):
        kind = draw(st.sampled_from(["permute", "slice", "expand"]))
        axis = draw(st.integers(0, view.ndim - 1))
        if kind == "permute":
            link = Permute(tuple(draw(st.permutations(range(view.ndim)))))
        elif kind == "slice":
            start, step = draw(st.integers(0, view.shape[axis] - 1)), draw(st.integers(1, 3))
            length = draw(st.integers(1, len(range(start, view.shape[axis], step))))
            link = Slice(axis, start, step, length, view.shape[axis])
        elif view.shape[axis] == 1:
            link = Expand(axis, draw(st.integers(1, 4)))
        else:
            continue
        links.append(link)
        view = link.apply(view)
    if strided and view.size >= 3 and not links:
        links = [Strided((2, 2), (1, 1), draw(st.integers(0, view.size - 3)))]
    return Tensor(base, layout=Layout(tuple(links)))


def kinds(tensor):
    """The links by kind; a broadcast to one item is none."""
    return [type(link) for link in tensor.layout.links if not (isinstance(link, Expand) and link.size == 1)]


@given(viewed(), st.data())
def test_a_window_has_the_same_kind_of_layout_and_the_values_of_the_window(tensor, data):
    shape = tuple(data.draw(st.integers(1, extent)) for extent in tensor.shape)
    start = tuple(data.draw(st.integers(0, old - new)) for old, new in zip(tensor.shape, shape))
    made = resize(tensor, shape, start)
    assert made.shape == shape
    window = tuple(slice(begin, begin + extent) for begin, extent in zip(start, shape))
    assert np.array_equal(made.view, tensor.view[window])
    assert [k for k in kinds(made) if k is not Expand] == [k for k in kinds(tensor) if k is not Expand]
    assert made.base.size <= tensor.base.size


@given(viewed(), st.data())
def test_steps_and_gaps_survive_a_crop(tensor, data):
    shape = tuple(data.draw(st.integers(1, extent)) for extent in tensor.shape)
    made = resize(tensor, shape)
    for old, new in zip(
        [link for link in tensor.layout.links if isinstance(link, Slice)],
        [link for link in made.layout.links if isinstance(link, Slice)],
    ):
        assert new.step == old.step and new.axis == old.axis
        assert bool(new.start) == bool(old.start)
        assert (new.extent > new.stop) == (old.extent > old.stop)


@given(viewed(strided=True), st.data())
def test_overlapping_windows_become_contiguous_with_the_same_values(tensor, data):
    shape = tuple(data.draw(st.integers(1, extent)) for extent in tensor.shape)
    made = resize(tensor, shape)
    assert np.array_equal(made.view, tensor.view[tuple(slice(0, extent) for extent in shape)])


@given(viewed(), st.integers(1, 5))
def test_a_broadcast_axis_may_take_any_size(tensor, size):
    last = tensor.layout.links[-1] if tensor.layout.links else None
    if isinstance(last, Expand):
        shape = tensor.shape[: last.axis] + (size,) + tensor.shape[last.axis + 1 :]
        made = resize(tensor, shape)
        assert made.shape == shape and made.base.size <= tensor.base.size
        if tensor.size:
            assert np.array_equal(made.view, np.broadcast_to(np.take(tensor.view, [0], axis=last.axis), shape))


@given(viewed())
def test_a_straightened_tensor_has_the_same_values_and_one_link_less(tensor):
    for what, made in straightened(tensor):
        assert what
        assert np.array_equal(made.view, tensor.view)
        assert len(made.layout.links) == len(tensor.layout.links) - 1


def test_a_slice_before_a_broadcast_is_dropped_with_its_values():
    """The slice before it still took three rows then, two of them zeros, which the broadcast did not mind."""
    base = np.arange(1, 7, dtype=np.float32)
    tensor = Tensor(base, "float32", Layout((Slice(0, 1, 2, 3, 6), Slice(0, 0, 1, 1, 3), Expand(0, 3))))
    made = dict(straightened(tensor))["drop slice 1"]
    assert np.array_equal(made.view, [2, 2, 2]) and np.array_equal(made.view, tensor.view)


@given(viewed(), st.data())
def test_a_squeezed_axis_takes_nothing_else_with_it(tensor, data):
    axis = data.draw(st.integers(0, len(tensor.shape) - 1))
    made = squeezed(tensor, axis)
    if made is not None:
        assert tensor.shape[axis] == 1
        assert np.array_equal(made.view, tensor.view.squeeze(axis))
    else:
        taken = [link for link in tensor.layout.links if isinstance(link, (Slice, Expand))]
        assert tensor.shape[axis] > 1 or taken
