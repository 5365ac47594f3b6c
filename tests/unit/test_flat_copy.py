"""The replay of the flat copy does exactly what its definition says, and never reads outside the source's memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minrepro import replays
from minrepro.errors import UsageError
from minrepro.replays import flat_copy


class Destination:
    """What the replay looks at in a framework's tensor."""

    def __init__(self, array: np.ndarray):
        self.dtype, self.shape = f"flow.{array.dtype.name}", array.shape


@st.composite
def views(draw):
    """A view with any mixture of permutation, steps and cuts over a dense array of distinct items."""
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    array = array.transpose(draw(st.permutations(range(array.ndim))))
    index = tuple(
        slice(draw(st.integers(0, n - 1)), None, draw(st.sampled_from([1, 1, 2]))) for n in array.shape
    )
    return array, array[index]


@given(views())
def test_element_i_is_the_item_i_places_after_the_pointer(pair):
    base, view = pair
    memory = base.ravel(order="K")
    first = int(view[(0,) * view.ndim])
    if not view.flags.c_contiguous and first + view.size > memory.size:
        with pytest.raises(RuntimeError, match="foreign memory"):
            flat_copy._checked(Destination(view), view)
        return
    got = flat_copy._checked(Destination(view), view)
    assert got.shape == view.shape
    assert got.ravel().tolist() == memory[first : first + view.size].tolist()


@pytest.mark.parametrize(
    ("source", "loaded"),
    [
        (np.array([[0, 1], [2, 3]], "float32").T, [[0, 1], [2, 3]]),
        (np.arange(6, dtype="int64").reshape(2, 3).T, [[0, 1], [2, 3], [4, 5]]),
        (np.arange(6, dtype="float32").reshape(2, 3)[:, :2], [[0, 1], [2, 3]]),
        (np.asfortranarray(np.arange(6.0).reshape(2, 3)), [[0, 3, 1], [4, 2, 5]]),
        (np.arange(6.0).reshape(2, 3).T[1:], [[1, 2], [3, 4]]),
        (np.arange(3.0), [0, 1, 2]),
        (np.zeros((0, 2)).T, [[], []]),
        (np.array(5.0), 5.0),
    ],
)
def test_layouts_by_hand(source, loaded):
    assert flat_copy._checked(Destination(source), source).tolist() == loaded


@pytest.mark.parametrize(
    "source",
    [
        np.arange(4.0)[::-1],
        np.arange(4.0).reshape(2, 2)[:, ::-1],
        np.broadcast_to(np.arange(3.0), (2, 3)),
        np.lib.stride_tricks.sliding_window_view(np.arange(4.0), 3),
    ],
)
def test_undefined_layouts_are_refused(source):
    with pytest.raises(RuntimeError, match="copy it to a dense array first"):
        flat_copy._checked(Destination(source), source)


@pytest.mark.parametrize("other", [np.zeros((2, 2), "float64"), np.zeros((2, 1), "float32"), np.zeros(4, "float32")])
def test_another_dtype_or_shape_is_a_bare_assertion(other):
    with pytest.raises(AssertionError) as caught:
        flat_copy._checked(Destination(np.zeros((2, 2), "float32")), other)
    assert str(caught.value) == "" or "assert" in str(caught.value)


def test_replays_are_found_by_name():
    assert "flat-copy" in replays.names()
    replay = replays.find("flat-copy")
    assert replay.path.name == "flat_copy.py" and "September 2021" in replay.history
    with pytest.raises(UsageError, match="known: flat-copy"):
        replays.find("flat_copy")
