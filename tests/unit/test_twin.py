"""A position that a float64 kernel rounds to float32 is no wrong formula; a wrong weight is."""

from __future__ import annotations

import numpy as np
import pytest

from minrepro.compare.twin import twin
from minrepro.compare.verdict import Question, Truth
from minrepro.ir.outcome import Completed
from minrepro.ir.tensor import Tensor


def cubic(distance: np.ndarray, a: float = -0.75) -> np.ndarray:
    """Weight of a neighbour at a distance."""
    d = np.abs(distance)
    inner = (a + 2) * d**3 - (a + 3) * d**2 + 1
    return np.where(d <= 1, inner, np.where(d < 2, a * (d**3 - 5 * d**2 + 8 * d - 4), 0.0))


def resized(image: np.ndarray, to: int, position: type = np.float64, a: float = -0.75) -> np.ndarray:
    """The last axis of an image at other positions, which are computed in a dtype."""
    scale = position(image.shape[-1]) / position(to)
    at = (np.arange(to, dtype=position) + position(0.5)) * scale - position(0.5)
    first = np.floor(at).astype(int)
    total = np.zeros((*image.shape[:-1], to))
    for offset in (-1, 0, 1, 2):
        index = np.clip(first + offset, 0, image.shape[-1] - 1)
        total += image[..., index] * cubic(at.astype(np.float64) - (first + offset), a)
    return total


def told(left: np.ndarray, right: np.ndarray, reach: int) -> str:
    """What the twin says about two float64 results."""
    truth = Truth({"y": left}, {"y": np.abs(left)}, "here")
    question = Question("reduction", 16, ("y",), lambda: truth, reach=reach)
    found = twin(question, *(Completed({"y": Tensor(value, "float64")}) for value in (left, right)))
    return "same" if found is None else found.verdict


@pytest.mark.parametrize("seed", range(20))
def test_a_float32_position_explains_a_difference_where_there_is_one(seed):
    image = np.random.RandomState(seed).randn(32, 23)
    right = resized(image, 17)
    assert told(right, resized(image, 17, np.float32), 23) == "same"
    assert told(right, resized(image, 17, np.float32), 1) == "diverges"


@pytest.mark.parametrize("a", [-0.5, -0.7501])
def test_another_weight_is_found_all_the_same(a):
    image = np.random.RandomState(0).randn(32, 23)
    assert told(resized(image, 17), resized(image, 17, a=a), 23) == "diverges"
