"""Short constructors for the samples of operator rows. Same arguments, same values, everywhere."""

from __future__ import annotations

import math

import numpy as np

from minrepro.ir.dtype import dtype, from_float64
from minrepro.ir.tensor import Tensor, from_numpy


def normal(*shape: int, seed: int = 0, of: str = "float32") -> Tensor:
    """Standard normal values."""
    values = np.random.RandomState(seed).standard_normal(shape)
    if dtype(of).kind == "complex":
        values = values + 1j * np.random.RandomState(seed + 1).standard_normal(shape)
    return Tensor(from_float64(values, dtype(of)), of)


def positive(*shape: int, seed: int = 0, of: str = "float32") -> Tensor:
    """Values in (0.1, 2.1)."""
    return Tensor(from_float64(np.random.RandomState(seed).random_sample(shape) * 2 + 0.1, dtype(of)), of)


def unit(*shape: int, seed: int = 0, of: str = "float32") -> Tensor:
    """Values in (0, 1)."""
    return Tensor(from_float64(np.random.RandomState(seed).random_sample(shape) * 0.98 + 0.01, dtype(of)), of)


def integers(*shape: int, low: int = 0, high: int = 5, seed: int = 0, of: str = "int64") -> Tensor:
    """Integers in [low, high)."""
    return Tensor(np.random.RandomState(seed).randint(low, high, shape).astype(dtype(of).storage), of)


def boolean(*shape: int, seed: int = 0) -> Tensor:
    """Fair coin flips."""
    return Tensor(np.random.RandomState(seed).randint(0, 2, shape).astype(bool), "bool")


def values(data: object, of: str = "float32") -> Tensor:
    """The given nested list."""
    return Tensor(from_float64(np.array(data, np.float64), dtype(of)) if dtype(of).kind == "float" else np.array(data, dtype(of).storage), of)


def arange(*shape: int, of: str = "float32") -> Tensor:
    """0, 1, 2, ... in C order."""
    return Tensor(from_float64(np.arange(math.prod(shape)).reshape(shape), dtype(of)), of)


def transposed(tensor: Tensor, *order: int) -> Tensor:
    """The same memory seen with permuted axes (reversed by default)."""
    return from_numpy(tensor.view.transpose(order or None), tensor.dtype)
