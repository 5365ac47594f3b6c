"""How one tensor lies in the memory of another: the view operator that leads there, and the one that leads back.

Both are read off the geometry (sizes, strides, offset), not off the operator that made the view, so `narrow`, `split`,
`unbind`, `T` and fancy slices all come down to select, slice, permute, view and, where nothing else fits, as_strided.
"""

SELF = object()
"""Stands for the parent in the arguments of a view."""


class View:
    """One link: the operator from parent to child, and a function that gives the operator back.

    `inverse(parent, child, value)` returns (op, overload, args): the parent's values with the child written into them.
    The op ``alias`` means that both are the same tensor.
    """

    __slots__ = ("op", "overload", "args", "inverse")

    def __init__(self, op, overload, args, inverse):
        self.op, self.overload, self.args, self.inverse = op, overload, args, inverse

    def filled(self, parent):
        """The arguments with the parent in its place."""
        return {key: parent if item is SELF else item for key, item in self.args.items()}


def between(parent, tensor):
    """The link from a known value to a tensor in the same memory, or None if no operator of ours describes it."""
    if tensor.dtype != parent.dtype:
        return None
    child = (tuple(tensor.shape), tensor.stride(), tensor.storage_offset())
    if child == parent.geometry:
        return View("alias", "default", {"self": SELF}, lambda p, c, value: ("alias", "default", {"self": c}))
    return _select(parent.geometry, child) or _slice(parent.geometry, child) or _permute(
        parent.geometry, child
    ) or _reshape(parent.geometry, child) or _expand(parent.geometry, child) or _strided(parent.geometry, child)


def _select(parent, child):
    (shape, strides, offset), (inner, inner_strides, inner_offset) = parent, child
    if len(inner) != len(shape) - 1:
        return None
    for dim in range(len(shape)):
        rest = tuple(n for axis, n in enumerate(shape) if axis != dim)
        steps = tuple(s for axis, s in enumerate(strides) if axis != dim)
        moved = inner_offset - offset
        if rest != inner or steps != inner_strides or shape[dim] < 2 or not strides[dim] or moved % strides[dim]:
            continue
        index = moved // strides[dim]
        if 0 <= index < shape[dim]:
            args = {"dim": dim, "index": index}
            return View(
                "select", "int", dict({"self": SELF}, **args),
                lambda p, c, value, args=args: ("select_scatter", "default", dict({"self": p, "src": c}, **args)),
            )
    return None


def _slice(parent, child):
    (shape, strides, offset), (inner, inner_strides, inner_offset) = parent, child
    if len(shape) != len(inner):
        return None
    differ = [axis for axis in range(len(shape)) if shape[axis] != inner[axis] or strides[axis] != inner_strides[axis]]
    if not differ:
        differ = [axis for axis in range(len(shape)) if strides[axis]][:1]
    if len(differ) != 1:
        return None
    dim = differ[0]
    if not strides[dim] or inner_strides[dim] % strides[dim] or (inner_offset - offset) % strides[dim]:
        return None
    start, step = (inner_offset - offset) // strides[dim], inner_strides[dim] // strides[dim]
    end = start + (inner[dim] - 1) * step + 1 if inner[dim] else start
    if step < 1 or not 0 <= start <= end <= shape[dim]:
        return None
    # torch keeps the stride of a slice that has one item or none.
    args = {"dim": dim, "start": start, "end": end, "step": step}
    return View(
        "slice", "Tensor", dict({"self": SELF}, **args),
        lambda p, c, value: ("slice_scatter", "default", dict({"self": p, "src": c}, **args)),
    )


def _permute(parent, child):
    (shape, strides, offset), (inner, inner_strides, inner_offset) = parent, child
    if offset != inner_offset or sorted(zip(shape, strides)) != sorted(zip(inner, inner_strides)):
        return None
    left, order = list(range(len(shape))), []
    for pair in zip(inner, inner_strides):
        axis = next(a for a in left if (shape[a], strides[a]) == pair)
        left.remove(axis)
        order.append(axis)
    back = [order.index(axis) for axis in range(len(order))]
    return View(
        "permute", "default", {"self": SELF, "dims": order},
        lambda p, c, value: ("permute", "default", {"self": c, "dims": back}),
    )


def _reshape(parent, child):
    """A view that keeps the order of the elements: both have the same runs of memory."""
    if parent[2] != child[2] or _runs(parent) != _runs(child):
        return None
    return View(
        "view", "default", {"self": SELF, "size": list(child[0])},
        lambda p, c, value: ("view", "default", {"self": c, "size": list(value.geometry[0])}),
    )


def _runs(geometry):
    """Sizes and strides with size-1 axes dropped and axes merged that follow each other in memory."""
    runs = []
    for size, stride in zip(*geometry[:2]):
        if size == 1:
            continue
        if runs and runs[-1][1] == size * stride:
            runs[-1] = (runs[-1][0] * size, stride)
        else:
            runs.append((size, stride))
    return runs


def _expand(parent, child):
    """Broadcasting: no write goes through it, torch refuses that itself."""
    (shape, strides, offset), (inner, inner_strides, inner_offset) = parent, child
    lead = len(inner) - len(shape)
    if lead < 0 or offset != inner_offset or any(inner_strides[:lead]):
        return None
    for size, stride, n, s in zip(shape, strides, inner[lead:], inner_strides[lead:]):
        if (n, s) != (size, stride) and (size != 1 or s):
            return None
    return View("expand", "default", {"self": SELF, "size": list(inner)}, None)


def _strided(parent, child):
    shape, strides, offset = child
    # Offsets count from the start of the storage; only a base at its start means the same elsewhere.
    if parent[2] or any(size > 1 and not stride for size, stride in zip(shape, strides)):
        return None
    args = {"size": list(shape), "stride": list(strides), "storage_offset": offset}
    return View(
        "as_strided", "default", dict({"self": SELF}, **args),
        lambda p, c, value: ("as_strided_scatter", "default", dict({"self": p, "src": c}, **args)),
    )
