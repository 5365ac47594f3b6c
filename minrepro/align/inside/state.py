"""The weights on their way into the port: how two arrays relate, before and after loading."""

import numpy

ALIKE = 32
"""Places in which the same values may stand (copies of one layer) before they tell nothing."""


def relation(due, value, turned, strides=None):
    """How a value relates to what is due.

    Args:
        due: the array it should be.
        value: the array it is.
        turned: it should be transposed.
        strides: strides in bytes of the array that was given, if `value` is what was stored of it.

    Returns:
        ``equal``, ``turned as due``, ``not transposed``, ``transposed``, ``in memory order``, ``reshaped``, ``permuted``,
        ``cast``, ``of another shape ...``, ``with other values`` or ``with values that are not finite``.
    """
    wanted = due.T if turned else due
    if same(wanted, value):
        return "turned as due" if turned else "equal"
    if turned and same(due, value):
        return "not transposed"
    if wanted.shape == value.shape and wanted.dtype != value.dtype:
        if numpy.array_equal(wanted.astype(value.dtype), value):
            return "cast"
    if due.size == value.size and due.size:
        memory = in_memory(due, due.strides if strides is None else strides)
        if numpy.array_equal(memory, value.reshape(-1)) and not numpy.array_equal(memory, due.reshape(-1)):
            return "in memory order"
    if due.ndim == 2 and same(due.T, value):
        return "transposed"
    if due.size == value.size and due.size:
        if numpy.array_equal(due.reshape(-1), value.reshape(-1)):
            return "reshaped"
        if numpy.array_equal(numpy.sort(due.reshape(-1)), numpy.sort(value.reshape(-1))):
            return "permuted"
    if wanted.shape != value.shape:
        return "of another shape (%s for %s)" % (list(value.shape), list(wanted.shape))
    finite = value.dtype.kind not in "fc" or numpy.isfinite(value).all()
    return "with other values" if finite else "with values that are not finite"


def in_memory(values, strides):
    """The values in the order of a memory with these strides."""
    return values.transpose(sorted(range(values.ndim), key=lambda axis: -strides[axis])).reshape(-1)


def same(a, b):
    """Equal in shape, dtype and every bit that counts."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    if a.__array_interface__["data"] == b.__array_interface__["data"] and a.strides == b.strides:
        return True  # the very same memory, as a converter gives what it does not change
    if numpy.array_equal(a, b):
        return True
    # Looking for NaN costs more than the comparison itself, and most entries have none.
    return a.dtype.kind in "fc" and bool(numpy.array_equal(a, b, equal_nan=True))


def twin(due, sources, value, turned):
    """The name of another source that the value is equal to: two entries were exchanged."""
    for name, other in sources.items():
        if other is not due and other.size == value.size and (same(other.T if turned else other, value)):
            return name
    return ""


def origin(value, sources):
    """Which sources a value is made of.

    Returns:
        Every way to make it, at most `ALIKE`: a list of pieces {"source", "squeezed", "turned", "axis", "at", "start",
        "length", "extent"} each. `length` of the `extent` rows of the source (without its axes of size 1 if `squeezed`,
        transposed if `turned`) from `start` on are those of the value from `at` on; axis None where the whole source is the
        whole value.
    """
    found, joined = [], []
    for name, other in sources.items():
        squeezed = other.ndim != value.ndim and other.squeeze().ndim == value.ndim
        other = other.squeeze() if squeezed else other
        for turned in (False, True) if other.ndim == 2 and other.shape != (1, 1) else (False,):
            facing = other.T if turned else other
            piece = {"source": name, "squeezed": squeezed, "turned": turned, "axis": None, "at": 0, "start": 0, "length": 0,
                     "extent": 0}
            if facing.shape == value.shape:
                found += [piece] if same(facing, value) else []
                continue
            axis = _odd(facing.shape, value.shape)
            if axis is None or facing.dtype != value.dtype:
                continue
            length = min(facing.shape[axis], value.shape[axis])
            whole, part = (facing, value) if length == value.shape[axis] else (value, facing)
            for place in _places(whole, part, axis):
                held = dict(piece, axis=axis, length=length, extent=facing.shape[axis])
                if whole is facing:
                    found.append(dict(held, start=place))
                else:
                    joined.append(dict(held, at=place))
    if found:
        return [[piece] for piece in found] if len(found) <= ALIKE else []
    joined.sort(key=lambda piece: piece["at"])
    ends = [0] + [piece["at"] + piece["length"] for piece in joined]
    whole = joined and len({piece["axis"] for piece in joined}) == 1 and ends[-1] == value.shape[joined[0]["axis"]]
    return [joined] if whole and ends[:-1] == [piece["at"] for piece in joined] else []


def _odd(a, b):
    """The only axis in which two shapes of one rank differ, or None."""
    odd = [axis for axis, (m, n) in enumerate(zip(a, b)) if m != n]
    return odd[0] if len(a) == len(b) and len(odd) == 1 else None


def _places(whole, part, axis):
    """Where a part stands in the whole along an axis."""
    if not part.size:
        return []
    whole, part = numpy.moveaxis(whole, axis, 0), numpy.moveaxis(part, axis, 0)
    first = (0,) * (part.ndim - 1)
    starts = numpy.flatnonzero(whole[(slice(None), *first)][: len(whole) - len(part) + 1] == part[(0, *first)])
    return [int(start) for start in starts if same(whole[start : start + len(part)], part)]


def numbers(array):
    """An array that a converter can calculate with: bfloat16 arrives as its bits."""
    return (array.astype("uint32") << 16).view("float32") if array.dtype == "uint16" else array


def read_only(array):
    """The array for a converter: what it wrote in place would be taken for what the reference has."""
    view = array.view()
    view.flags.writeable = False
    return view
