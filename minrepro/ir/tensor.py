"""Tensors whose memory layout is part of their value.

A `Tensor` is a dense C-ordered base and a chain of views over it. The bug that founded the project lived in the
strides of a weight and nowhere else, so nothing here makes an array contiguous behind the caller's back: removing a
link of the chain is a reduction step like any other, and has to pass the interestingness test.
"""

from __future__ import annotations

import math
from typing import Union

import msgspec
import numpy as np

from minrepro.ir.dtype import DType, dtype, from_float64, to_float64


class Permute(msgspec.Struct, frozen=True, tag="permute"):
    """Reorder axes: result axis i is axis ``order[i]``."""

    order: tuple[int, ...]

    def apply(self, view: np.ndarray) -> np.ndarray:
        """Return the permuted view."""
        return view.transpose(self.order)


class Slice(msgspec.Struct, frozen=True, tag="slice"):
    """Take ``length`` items of an axis of size ``extent``, from ``start`` on, every ``step``-th (step >= 1)."""

    axis: int
    start: int
    step: int
    length: int
    extent: int

    @property
    def index(self) -> str:
        """The slice as Python writes it, ends left open where they may be."""
        open_end = self.length and (self.extent - self.start + self.step - 1) // self.step == self.length
        step = f":{self.step}" if self.step != 1 else ""
        return f"{self.start or ''}:{'' if open_end else self.stop}{step}"

    @property
    def stop(self) -> int:
        """First index after the last one taken."""
        return self.start + (self.length - 1) * self.step + 1 if self.length else self.start

    def apply(self, view: np.ndarray) -> np.ndarray:
        """Return the sliced view."""
        return view[(slice(None),) * self.axis + (slice(self.start, self.stop, self.step),)]


class Expand(msgspec.Struct, frozen=True, tag="expand"):
    """Broadcast an axis of size 1 to ``size`` (stride 0)."""

    axis: int
    size: int

    def apply(self, view: np.ndarray) -> np.ndarray:
        """Return the broadcast view."""
        return np.broadcast_to(view, view.shape[: self.axis] + (self.size,) + view.shape[self.axis + 1 :])


class Strided(msgspec.Struct, frozen=True, tag="strided"):
    """Any other layout (overlapping windows): sizes, strides and offset in elements over a flat base."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int

    def apply(self, view: np.ndarray) -> np.ndarray:
        """Return the strided view; the span is checked, because some frameworks do not."""
        flat = view.reshape(-1)
        last = self.offset + sum((n - 1) * s for n, s in zip(self.shape, self.strides))
        if 0 not in self.shape and not 0 <= self.offset <= last < flat.size:
            raise ValueError(f"strided view reaches item {last} of a base with {flat.size} items")
        strides = tuple(s * flat.itemsize for s in self.strides)
        return np.lib.stride_tricks.as_strided(flat[self.offset :], self.shape, strides, writeable=False)


Link = Union[Permute, Slice, Expand, Strided]


class Layout(msgspec.Struct, frozen=True):
    """The chain of views over a dense base; `CONTIGUOUS` is the empty chain."""

    links: tuple[Link, ...] = ()

    def apply(self, base: np.ndarray) -> np.ndarray:
        """Return the view of `base` that the chain describes."""
        for link in self.links:
            base = link.apply(base)
        return base

    def __str__(self) -> str:
        words = []
        for link in self.links:
            if isinstance(link, Permute):
                words.append("transposed" if link.order == (1, 0) else f"permute{list(link.order)}")
            elif isinstance(link, Slice):
                words.append(f"axis {link.axis} [{link.index}]")
            elif isinstance(link, Expand):
                words.append(f"axis {link.axis} broadcast to {link.size}")
            else:
                words.append(f"strides {list(link.strides)}")
        return ", ".join(words) or "contiguous"


CONTIGUOUS = Layout()


class TensorSpec(msgspec.Struct, frozen=True):
    """Shape, dtype and layout of a tensor without its values."""

    shape: tuple[int, ...]
    dtype: str
    layout: Layout = CONTIGUOUS

    def __str__(self) -> str:
        text = f"{self.dtype}[{', '.join(map(str, self.shape))}]"
        return text if self.layout == CONTIGUOUS else f"{text} ({self.layout})"


class Tensor:
    """Values with their layout: a dense base array in the dtype's storage type, and a `Layout` over it.

    Immutable by convention: the base is set read-only, and every change makes a new tensor.
    """

    __slots__ = ("base", "dtype", "layout")

    def __init__(self, base: np.ndarray, of: DType | str | None = None, layout: Layout = CONTIGUOUS):
        kind = dtype(of) if isinstance(of, str) else of if of is not None else dtype(base.dtype.name)
        dense = np.asarray(base, dtype=kind.storage, order="C").view()
        dense.flags.writeable = False
        self.base, self.dtype, self.layout = dense, kind, layout

    @property
    def view(self) -> np.ndarray:
        """The tensor as a strided read-only NumPy view, in storage type."""
        return self.layout.apply(self.base)

    @property
    def shape(self) -> tuple[int, ...]:
        """Logical shape."""
        return self.view.shape

    @property
    def size(self) -> int:
        """Number of logical elements."""
        return math.prod(self.shape)

    @property
    def spec(self) -> TensorSpec:
        """The tensor without its values."""
        return TensorSpec(self.shape, self.dtype.name, self.layout)

    @property
    def values(self) -> np.ndarray:
        """The logical values as float64 (complex128 for complex types)."""
        return to_float64(self.view, self.dtype)

    def contiguous(self) -> Tensor:
        """The same values in a dense C-ordered base with no view over it."""
        return Tensor(np.ascontiguousarray(self.view).reshape(self.shape), self.dtype)

    def cast(self, to: DType) -> Tensor:
        """Another dtype, the same layout. Integers and bool truncate as NumPy does."""
        if to == self.dtype:
            return self
        if self.dtype.inexact and to.inexact and self.dtype.kind == to.kind:
            return Tensor(from_float64(to_float64(self.base, self.dtype), to), to, self.layout)
        wide = to_float64(self.base, self.dtype) if self.dtype.name == "bfloat16" else self.base
        wide = wide.real if np.iscomplexobj(wide) and to.kind != "complex" else wide
        with np.errstate(all="ignore"):
            cast = wide.astype(to.storage) if to.name != "bfloat16" else from_float64(wide.astype(np.float64), to)
        return Tensor(cast, to, self.layout)

    def with_base(self, base: np.ndarray) -> Tensor:
        """Other base values under the same layout."""
        return Tensor(base, self.dtype, self.layout)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Tensor)
            and self.spec == other.spec
            and self.base.shape == other.base.shape
            and self.base.tobytes() == other.base.tobytes()
        )

    def __hash__(self) -> int:
        return hash((self.spec, self.base.tobytes()))

    def __repr__(self) -> str:
        return f"Tensor({self.spec})"


def from_strided(flat: np.ndarray, of: DType, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Tensor:
    """Recover base and view chain from raw memory.

    Args:
        flat: 1-D storage, in the dtype's storage type.
        of: the dtype.
        shape: logical shape.
        strides: strides in elements, one per axis (0 for a broadcast axis).
        offset: position of element (0, ..., 0).

    Returns:
        A tensor whose view equals the strided memory and whose own strides are the given ones, up to axes of size 1.
        Gaps between the viewed elements stay in the base, for bugs live there too.
    """
    if 0 in shape:
        return Tensor(np.zeros(shape, of.storage), of)
    span = offset + sum((n - 1) * s for n, s in zip(shape, strides)) + 1
    fallback = Layout((Strided(tuple(shape), tuple(strides), 0),))
    real = [axis for axis in range(len(shape)) if shape[axis] > 1 and strides[axis] > 0]
    broadcast = [axis for axis in range(len(shape)) if shape[axis] > 1 and strides[axis] == 0]
    if any(s < 0 for s in strides):
        return Tensor(np.ascontiguousarray(_strided(flat, shape, strides, offset)), of)
    order = sorted(real, key=lambda axis: (-strides[axis], axis))
    # From the innermost axis outwards: the base extent of an axis is how many of its strides fit into the next one.
    extent: dict[int, int] = {}
    steps: dict[int, int] = {}
    inner = 1
    for position in range(len(order) - 1, -1, -1):
        axis = order[position]
        if strides[axis] % inner:
            return Tensor(flat[offset:span].copy(), of, fallback)
        steps[axis] = strides[axis] // inner
        reach = (shape[axis] - 1) * steps[axis] + 1
        outer = strides[order[position - 1]] if position else None
        if outer is None:
            extent[axis] = reach
        elif outer % inner == 0 and outer // inner >= reach:
            # The next axis may itself step over rows; take the smallest extent that leaves it a whole stride.
            room = outer // inner
            extent[axis] = next(e for e in range(reach, room + 1) if room % e == 0)
        else:
            return Tensor(flat[offset:span].copy(), of, fallback)
        inner *= extent[axis]
    base_shape = [extent[axis] for axis in order]
    base = np.zeros(math.prod(base_shape), of.storage)
    window = flat[offset : offset + base.size]
    base[: window.size] = window
    base = base.reshape(base_shape)
    links: list[Link] = []
    for position, axis in enumerate(order):
        if extent[axis] != shape[axis] or steps[axis] != 1:
            links.append(Slice(position, 0, steps[axis], shape[axis], extent[axis]))
    rest = [axis for axis in range(len(shape)) if axis not in real]
    placed = sorted(range(len(shape)), key=lambda axis: (axis not in real, order.index(axis) if axis in real else axis))
    # Axes of size 1 join the base where they stand if the real axes are in order; otherwise in front.
    if [axis for axis in range(len(shape)) if axis in real] == order:
        full = [1] * len(shape)
        for position, axis in enumerate(order):
            full[axis] = base_shape[position]
        links = [msgspec.structs.replace(link, axis=order[link.axis]) for link in links]
        base = base.reshape(full)
    else:
        base = base.reshape(base_shape + [1] * len(rest))
        inverse = tuple(placed.index(axis) for axis in range(len(shape)))
        links.append(Permute(inverse))
    links += [Expand(axis, shape[axis]) for axis in broadcast]
    return Tensor(base, of, Layout(tuple(links)))


def _strided(flat: np.ndarray, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> np.ndarray:
    return np.lib.stride_tricks.as_strided(
        flat[offset:], shape, tuple(s * flat.itemsize for s in strides), writeable=False
    )


def from_numpy(array: np.ndarray, of: DType | None = None) -> Tensor:
    """A tensor with the very layout of a NumPy array, gaps included where its memory can be reached."""
    array = np.asarray(array)
    kind = of or dtype(array.dtype.name)
    if array.flags.c_contiguous or any(s % array.itemsize for s in array.strides) or 0 in array.shape:
        return Tensor(np.ascontiguousarray(array).reshape(array.shape), kind)
    strides = tuple(s // array.itemsize for s in array.strides)
    if any(s < 0 for s in strides):
        return Tensor(np.ascontiguousarray(array), kind)
    span = sum((n - 1) * s for n, s in zip(array.shape, strides)) + 1
    flat = np.lib.stride_tricks.as_strided(array, (span,), (array.itemsize,), writeable=False)
    return from_strided(flat, kind, array.shape, strides, 0)
