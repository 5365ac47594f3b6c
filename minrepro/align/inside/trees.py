"""Nested values around a call: find the tensors in them, put others in their place, write them down as data."""

import copy
import dataclasses


def items(value):
    """(key, item) pairs of a container in order; None if the value is no container."""
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, (list, tuple)):
        return list(zip(getattr(value, "_fields", range(len(value))), value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
    return None


def leaves(value, is_leaf, label=""):
    """(label, leaf) of every leaf in a nested value, depth first; labels are joined with a dot."""
    if is_leaf(value):
        return [(label, value)]
    found = []
    for key, item in items(value) or ():
        found += leaves(item, is_leaf, "%s.%s" % (label, key) if label else str(key))
    return found


def mapped(value, is_leaf, change):
    """A nested value with every leaf replaced by ``change(leaf)``; containers keep their type."""
    if is_leaf(value):
        return change(value)
    if isinstance(value, dict):
        made = copy.copy(value)
        for key, item in value.items():
            made[key] = mapped(item, is_leaf, change)
        return made
    if isinstance(value, tuple):
        parts = [mapped(item, is_leaf, change) for item in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, list):
        return [mapped(item, is_leaf, change) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        made = copy.copy(value)
        for key, item in items(value):
            object.__setattr__(made, key, mapped(item, is_leaf, change))
        return made
    return value


def written(value, is_leaf, take):
    """A nested value as JSON: leaves become {"leaf": take(leaf)}, plain values stay, anything else is named.

    Returns:
        An object that `read` turns back.
    """
    if is_leaf(value):
        return {"leaf": take(value)}
    if value is None or isinstance(value, (bool, int, float, str)):
        return {"plain": value}
    if isinstance(value, dict):
        return {"dict": [[str(key), written(item, is_leaf, take)] for key, item in value.items()]}
    if isinstance(value, (list, tuple)):
        kind = "list" if isinstance(value, list) else "tuple"
        return {kind: [written(item, is_leaf, take) for item in value]}
    return {"strange": type(value).__name__}


def read(data, leaf):
    """The value that `written` wrote down, with ``leaf(where)`` for each leaf."""
    (kind, held), = data.items()
    if kind == "leaf":
        return leaf(held)
    if kind == "dict":
        return {key: read(item, leaf) for key, item in held}
    if kind in ("list", "tuple"):
        made = [read(item, leaf) for item in held]
        return made if kind == "list" else tuple(made)
    if kind == "strange":
        raise TypeError("an argument of type %s cannot be given to another framework" % held)
    return held
