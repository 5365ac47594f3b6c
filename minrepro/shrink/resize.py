"""Crop a tensor to another shape while its memory layout stays of the same kind.

A permuted tensor stays permuted, a stepped one keeps its step, a column range keeps one item of the gap beside it: the
bug may live in exactly that, and making it contiguous is for another pass to try.
"""

from __future__ import annotations

import msgspec
import numpy as np

from minrepro.ir.tensor import Expand, Layout, Permute, Slice, Strided, Tensor


def resize(tensor: Tensor, shape: tuple[int, ...], window: tuple[int, ...] | None = None) -> Tensor:
    """Cut a window out of a tensor.

    Args:
        tensor: the tensor.
        shape: new logical shape of the same rank; an axis may not grow, except that a broadcast axis may take any size.
        window: first index to keep on each logical axis; zeros by default.

    Returns:
        The cropped tensor. A layout that cannot be cropped (overlapping windows) becomes contiguous.
    """
    if shape == tensor.shape:
        return tensor
    start = list(window or (0,) * len(shape))
    if any(isinstance(link, Strided) for link in tensor.layout.links):
        cut = tuple(slice(begin, begin + extent) for begin, extent in zip(start, shape))
        return Tensor(np.ascontiguousarray(tensor.view[cut]), tensor.dtype)
    target = list(shape)
    links: list = []
    cuts: dict[int, tuple[int, int]] = {}
    for link in reversed(tensor.layout.links):
        if isinstance(link, Expand):
            if target[link.axis] != 1:
                links.insert(0, Expand(link.axis, target[link.axis]))
            target[link.axis], start[link.axis] = 1, 0
        elif isinstance(link, Permute):
            links.insert(0, link)
            target = [target[link.order.index(axis)] for axis in range(len(target))]
            start = [start[link.order.index(axis)] for axis in range(len(start))]
        elif isinstance(link, Slice):
            new = _cropped(link, target[link.axis])
            links.insert(0, new)
            begin = link.start - new.start + start[link.axis] * link.step
            cuts[link.axis] = (max(0, min(begin, link.extent - new.extent)), new.extent)
            target[link.axis], start[link.axis] = new.extent, cuts[link.axis][0]
    index = tuple(slice(begin, begin + extent) for begin, extent in zip(start, target))
    base = tensor.base[index]
    if base.shape != tuple(target):
        return Tensor(np.ascontiguousarray(_fit(tensor.view, shape)), tensor.dtype)
    return Tensor(np.ascontiguousarray(base), tensor.dtype, Layout(tuple(links)))


def _cropped(link: Slice, length: int) -> Slice:
    """The slice with another length: its step stays, and at most one item of the gaps before and after it."""
    start = min(link.start, 1)
    stop = start + (length - 1) * link.step + 1 if length else start
    return Slice(link.axis, start, link.step, length, stop + min(link.extent - link.stop, 1))


def _fit(view: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    return view[tuple(slice(0, extent) for extent in shape)]


def straightened(tensor: Tensor) -> list[tuple[str, Tensor]]:
    """The tensor with each single link of its layout removed, and what was removed; values stay where possible."""
    out = []
    for position, link in enumerate(tensor.layout.links):
        rest = tensor.layout.links[:position] + tensor.layout.links[position + 1 :]
        if isinstance(link, Slice) and link.step == 1 and link.start and link.extent == link.stop:
            name = f"drop the offset of axis {link.axis}"
        else:
            name = f"drop {type(link).__name__.lower()} {position}"
        if isinstance(link, Expand) or isinstance(link, Strided):
            continue
        inner = Tensor(tensor.base, tensor.dtype, Layout(tensor.layout.links[:position]))
        base = np.ascontiguousarray(link.apply(inner.view))
        if position == 0:
            out.append((name, Tensor(base, tensor.dtype, Layout(rest))))
        elif not any(isinstance(other, (Expand, Strided)) for other in tensor.layout.links[:position]):
            under, before = _under(tensor.layout.links[:position], base, tensor)
            after = tensor.layout.links[position + 1 :]
            out.append((name, Tensor(under, tensor.dtype, Layout((*before, *after)))))
    return [(name, made) for name, made in out if made.shape == tensor.shape]


def _under(links: tuple, wanted: np.ndarray, tensor: Tensor) -> tuple[np.ndarray, tuple]:
    """A base that looks like `wanted` through the given links, and the links, whose slices take as much as there is now.

    Gaps are zero.
    """
    view, fitted = wanted, []
    for link in reversed(links):
        fitted.append(link)
        if isinstance(link, Permute):
            view = view.transpose(np.argsort(link.order))
        elif isinstance(link, Slice):
            shape, stop = list(view.shape), link.start + (view.shape[link.axis] - 1) * link.step + 1
            shape[link.axis] = max(link.extent, stop)
            fitted[-1] = msgspec.structs.replace(link, length=view.shape[link.axis], extent=shape[link.axis])
            grown = np.zeros(shape, tensor.dtype.storage)
            grown[(slice(None),) * link.axis + (slice(link.start, stop, link.step),)] = view
            view = grown
    return np.ascontiguousarray(view), tuple(reversed(fitted))
