"""Number types: names, bits and the constants that numerical bounds are made of.

NumPy has no bfloat16, so its tensors travel as raw ``uint16`` bits; `to_float64` and `from_float64` are the only
places that know this.
"""

from __future__ import annotations

import msgspec
import numpy as np


class DType(msgspec.Struct, frozen=True):
    """One number type.

    Attributes:
        name: the name in every framework's documentation, for example ``float32``.
        bits: width in bits.
        kind: ``float``, ``complex``, ``int``, ``uint`` or ``bool``.
        roundoff: unit roundoff u = 2**-p for p significand bits; 0 for exact types (IEEE 754-2019, table 3.1).
        tiny: smallest normal positive number; 0 for exact types.
    """

    name: str
    bits: int
    kind: str
    roundoff: float = 0.0
    tiny: float = 0.0

    @property
    def storage(self) -> np.dtype:
        """The NumPy type whose bytes hold a value (``uint16`` for bfloat16)."""
        return np.dtype("uint16" if self.name == "bfloat16" else self.name)

    @property
    def inexact(self) -> bool:
        """True for float and complex types."""
        return self.kind in ("float", "complex")

    def __str__(self) -> str:
        return self.name


DTYPES: dict[str, DType] = {
    d.name: d
    for d in (
        DType("float32", 32, "float", 2.0**-24, 2.0**-126),
        DType("int64", 64, "int"),
        DType("bool", 8, "bool"),
        DType("float64", 64, "float", 2.0**-53, 2.0**-1022),
        DType("float16", 16, "float", 2.0**-11, 2.0**-14),
        DType("bfloat16", 16, "float", 2.0**-8, 2.0**-126),
        DType("int32", 32, "int"),
        DType("int16", 16, "int"),
        DType("int8", 8, "int"),
        DType("uint8", 8, "uint"),
        DType("complex64", 64, "complex", 2.0**-24, 2.0**-126),
        DType("complex128", 128, "complex", 2.0**-53, 2.0**-1022),
    )
}
"""All types, simplest first: the order is the dtype rank of `shrink.order`."""

RANK = {name: rank for rank, name in enumerate(DTYPES)}


def dtype(name: str) -> DType:
    """Look a type up by name.

    Raises:
        KeyError: with the known names, if there is no such type.
    """
    try:
        return DTYPES[name]
    except KeyError:
        raise KeyError(f"unknown dtype {name!r}; known: {', '.join(DTYPES)}") from None


def to_float64(array: np.ndarray, of: DType) -> np.ndarray:
    """Widen raw values of type `of` to float64 (complex128 for complex types); exact for every type up to 53 bits."""
    if of.name == "bfloat16":
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    return array.astype(np.complex128 if of.kind == "complex" else np.float64)


def from_float64(array: np.ndarray, to: DType) -> np.ndarray:
    """Round float64 values to `to`, to nearest even, in its storage type. Overflow gives infinity, as IEEE 754 says."""
    with np.errstate(all="ignore"):
        if to.name != "bfloat16":
            return np.asarray(array).astype(to.storage)
        bits = np.asarray(array, np.float32).view(np.uint32)
        rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
        return np.where(np.isnan(array), np.uint16(0x7FC0), rounded)
