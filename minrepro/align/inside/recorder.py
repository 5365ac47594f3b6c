"""What one call of a user's function computed, as a list of steps in the user's own spelling.

A step is a text with holes for the steps that it takes; tensors are known by identity, so a value keeps its step while
it travels through lists, dicts and helper functions. Values are copied when they are made: what writes into a tensor is
a step of its own.
"""

import importlib
import types

import numpy

HOLE = "\u00ab%d\u00bb"
"""A hole in a step's text: the number of one of its operands."""
PLAIN = (bool, int, float, str, type(None))


class Unfollowed(Exception):
    """The source has something that is not understood."""


class Box:
    """A value on its way through the function, with the number of the step that made it."""

    __slots__ = ("value", "node")

    def __init__(self, value, node):
        self.value, self.node = value, node


class Recorder:
    """Collects the steps of one call.

    Args:
        native: the framework.
    """

    def __init__(self, native):
        self.native = native
        self.nodes, self.values, self.known_ids = [], [], {}
        self.line = self.offset = 0  # of the source; `offset` is what stands before the function in its file

    def add(self, kind, value, text="", operands=(), uses=None, **facts):
        """A new step; a tensor is known by it from now on."""
        node = dict(facts, kind=kind, text=text, operands=list(operands), uses=dict(uses or {}), line=self.line)
        if self.plain(value):
            node["plain"] = repr(self.flat(value))
        self.nodes.append(node)
        tensor = self.native.is_tensor(value)
        self.values.append(self.native.detached(value) if tensor else None)
        number = len(self.nodes) - 1
        if tensor:
            self.known_ids[id(value)] = (value, number)  # holding it keeps the identity from being given again
        return Box(value, number)

    def plain(self, value):
        """True for what can be written down as a literal."""
        if isinstance(value, (list, tuple)):
            return all(self.plain(item) for item in value)
        return isinstance(value, PLAIN) or isinstance(value, numpy.generic)

    def flat(self, value):
        """A plain value without the framework's and NumPy's types."""
        if isinstance(value, (list, tuple)):
            made = [self.flat(item) for item in value]
            return made if isinstance(value, list) else tuple(made)
        return value.item() if isinstance(value, numpy.generic) else value

    def of(self, value, label=""):
        """The box of a value that comes from anywhere: its step if there is one, else a new input."""
        if self.native.is_tensor(value):
            held = self.known_ids.get(id(value))
            return Box(value, held[1]) if held else self.add("input", value, label=label)
        if self.plain(value):
            return self.add("plain", value)
        if self.is_dtype(value):
            return self.add("const", value, "%s.%s" % (self.native.name, str(value).split(".")[-1]), (),
                            {self.native.name: "import " + self.native.name})
        if isinstance(value, (list, tuple)) and self._with_tensors(value):
            return self.display(value, [self.of(item, label) for item in value])
        return self.add("opaque", value, label=label)

    def _with_tensors(self, value):
        if isinstance(value, (list, tuple)):
            return any(map(self._with_tensors, value))
        return self.native.is_tensor(value)

    def is_dtype(self, value):
        """True for a dtype of the framework."""
        return isinstance(value, type(self.native.root.float32))

    def display(self, value, boxes):
        """A list or tuple of boxes."""
        holes = ", ".join(HOLE % i for i in range(len(boxes)))
        text = "[%s]" % holes if isinstance(value, list) else "(%s%s)" % (holes, "," if len(boxes) == 1 else "")
        return self.add("display", value, text, [box.node for box in boxes])

    def index(self, box):
        """The step that stands for a box as an operand, as it is now."""
        if self.native.is_tensor(box.value):
            return self.of(box.value).node
        if isinstance(box.value, (list, tuple)) and self._with_tensors(box.value):
            return self.of(box.value).node
        return box.node

    def literal(self, numbers):
        """True if these steps are written as literals in the source."""
        return all(self.nodes[n].get("literal") or
                   self.nodes[n]["kind"] == "display" and self.literal(self.nodes[n]["operands"]) for n in numbers)

    def done(self, value, text, operands, uses=None, kind="op", **facts):
        """A step that was carried out: its result, and a step for each item if there are several."""
        if self.native.is_tensor(value):
            same = [n for n in operands if self.known_ids.get(id(value), (None, -1))[1] == n]
            if same and kind == "op":
                return Box(value, same[0])  # handed through
        if self.plain(value) and kind == "op":
            return self.add("plain", value, text, operands, uses, literal=bool(operands) and self.literal(operands))
        box = self.add(kind, value, text, operands, uses, **facts)
        self._items(value, box.node)
        return box

    def _items(self, value, owner):
        keyed = isinstance(value, dict)
        if not keyed and not isinstance(value, (list, tuple)):
            return
        for key, item in value.items() if keyed else enumerate(value):
            if self.native.is_tensor(item) and id(item) not in self.known_ids:
                self.add("op", item, "%s[%r]" % (HOLE % 0, key), [owner])
            elif isinstance(item, (dict, list, tuple)):
                self._items(item, self.add("op", item, "%s[%r]" % (HOLE % 0, key), [owner]).node)

    def label(self, box, name):
        """Name a step after the variable that it was assigned to."""
        node = self.nodes[self.index(box)]
        node.setdefault("name", name)


def imported(name, value):
    """The line that imports a global name; None if there is none."""
    if isinstance(value, types.ModuleType):
        whole = value.__name__
        if whole == name:
            return "import " + whole
        parent, _, last = whole.rpartition(".")
        if parent and last == name:
            return "from %s import %s" % (parent, name)
        return "import %s as %s" % (whole, name)
    home, own = getattr(value, "__module__", None), getattr(value, "__name__", None)
    if not home or not own:
        return None
    try:
        found = getattr(importlib.import_module(home), own, None)
    except ImportError:
        return None
    if found is not value or home == "builtins":
        return None
    return "from %s import %s" % (home, own) + ("" if own == name else " as " + name)
