"""The weights on their way into the port: how two arrays relate, before and after loading."""

import numpy


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


def numbers(array):
    """An array that a converter can calculate with: bfloat16 arrives as its bits."""
    return (array.astype("uint32") << 16).view("float32") if array.dtype == "uint16" else array


def read_only(array):
    """The array for a converter: what it wrote in place would be taken for what the reference has."""
    view = array.view()
    view.flags.writeable = False
    return view
