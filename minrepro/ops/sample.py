"""Short constructors for the samples of operator rows. Same arguments, same values, everywhere.

A row costs nothing until its samples are run: what these return draws its values when it is first looked at.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy as np

from minrepro.ir.dtype import dtype, from_float64
from minrepro.ir.tensor import Tensor, from_numpy


class Drawn(Tensor):
    """A tensor that is made when one of its parts is first asked for."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[], Tensor]):
        self._make = make

    def __getattr__(self, name: str) -> Any:
        # Reached only while the slot of that name is empty.
        if name not in Tensor.__slots__:
            raise AttributeError(name)
        made = self._make()
        self.base, self.dtype, self.layout = made.base, made.dtype, made.layout
        return getattr(made, name)


def drawn(make: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Let a constructor of tensors wait until its result is looked at."""

    @wraps(make)
    def later(*args: Any, **options: Any) -> Tensor:
        return Drawn(partial(make, *args, **options))

    return later


@drawn
def normal(*shape: int, seed: int = 0, of: str = "float32") -> Tensor:
    """Standard normal values."""
    values = np.random.RandomState(seed).standard_normal(shape)
    if dtype(of).kind == "complex":
        values = values + 1j * np.random.RandomState(seed + 1).standard_normal(shape)
    return Tensor(from_float64(values, dtype(of)), of)


@drawn
def positive(*shape: int, seed: int = 0, of: str = "float32") -> Tensor:
    """Values in (0.1, 2.1)."""
    return Tensor(from_float64(np.random.RandomState(seed).random_sample(shape) * 2 + 0.1, dtype(of)), of)


@drawn
def unit(*shape: int, seed: int = 0, of: str = "float32") -> Tensor:
    """Values in (0, 1)."""
    return Tensor(from_float64(np.random.RandomState(seed).random_sample(shape) * 0.98 + 0.01, dtype(of)), of)


@drawn
def integers(*shape: int, low: int = 0, high: int = 5, seed: int = 0, of: str = "int64") -> Tensor:
    """Integers in [low, high)."""
    return Tensor(np.random.RandomState(seed).randint(low, high, shape).astype(dtype(of).storage), of)


@drawn
def boolean(*shape: int, seed: int = 0) -> Tensor:
    """Fair coin flips."""
    return Tensor(np.random.RandomState(seed).randint(0, 2, shape).astype(bool), "bool")


@drawn
def values(data: object, of: str = "float32") -> Tensor:
    """The given nested list."""
    exact = np.array(data, np.float64 if dtype(of).kind == "float" else dtype(of).storage)
    return Tensor(from_float64(exact, dtype(of)) if dtype(of).kind == "float" else exact, of)


@drawn
def arange(*shape: int, of: str = "float32") -> Tensor:
    """0, 1, 2, ... in C order."""
    return Tensor(from_float64(np.arange(math.prod(shape)).reshape(shape), dtype(of)), of)


@drawn
def transposed(tensor: Tensor, *order: int) -> Tensor:
    """The same memory seen with permuted axes (reversed by default)."""
    return from_numpy(tensor.view.transpose(order or None), tensor.dtype)
