"""The data flow of one call, written down while it happens: every operator on real values, by tensor identity.

Values are named as in static single assignment. A write in place gives the written tensor a new name; what else looks
at the same memory becomes stale and is rebuilt when it is used again: a base from its view through `*_scatter`, a view
from its base through the view operator itself. So the recorded graph is functional, however the model was written.

Nothing here keeps a tensor alive except the graph's inputs: tensors are known through weak references.
"""

import weakref

import torch

from . import alias
from .encode import Names, Ref, describe, encode, references
from .values import twin


class Unrecordable(Exception):
    """This rung cannot express what the model did; the next one may."""


class Value:
    """A tensor that the recording knows: its current name, and how it hangs on its parent's memory."""

    __slots__ = ("name", "version", "cell", "parent", "view", "geometry", "dtype", "tensor")

    def __init__(self, tensor, name, cell, parent=None, view=None):
        self.name, self.cell, self.parent, self.view = name, cell, parent, view
        self.version = cell.version
        self.geometry = (tuple(tensor.shape), tensor.stride(), tensor.storage_offset())
        self.dtype = tensor.dtype
        self.tensor = weakref.ref(tensor)
        cell.values.append(self)


class Cell:
    """One storage: how often it was written, and who looks at it."""

    def __init__(self, storage):
        self.storage, self.version, self.values = storage, 0, []

    def alive(self):
        """The values whose tensor still exists."""
        self.values = [value for value in self.values if value.tensor() is not None]
        return self.values


class Recording:
    """Nodes, inputs and outputs as they go over the wire; inputs carry their tensor, `seen` the recorded results."""

    def __init__(self):
        self.nodes, self.inputs, self.outputs, self.labels, self.seen = [], [], [], [], []


class Recorder:
    """Turns observed calls into nodes.

    Args:
        module: the model; its parameters, buffers and plain tensor attributes get their own names.
        where: function that returns (module path, source line) of the running call.
        rows: names of operators that have a row.
    """

    def __init__(self, module, where, rows):
        self.recording, self.names, self.where, self.rows = Recording(), Names(), where, rows
        self.known, self.cells = {}, {}
        self.attributes = {}
        for path, part in module.named_modules(remove_duplicate=False):
            for name, item in vars(part).items():
                if isinstance(item, torch.Tensor):
                    self.attributes.setdefault(id(item), "%s.%s" % (path, name) if path else name)
        for kind, entries in (("parameter", module.named_parameters()), ("buffer", module.named_buffers())):
            for key, tensor in entries:
                self.input(tensor, kind, key, key)

    # -- values ------------------------------------------------------------------------------------------------

    def input(self, tensor, kind, key, wanted):
        """Make a tensor a graph input; return its value."""
        # A constant may be a window on memory that NumPy goes on writing to.
        kept = twin(tensor) if kind in ("constant", "random") else tensor
        return self.bind(tensor, self.feed(kept, kind, key, wanted))

    def feed(self, tensor, kind, key, wanted):
        """Add a graph input that is this very tensor; return its name."""
        name = self.names.new(wanted)
        self.recording.inputs.append({"name": name, "kind": kind, "key": key, "tensor": tensor})
        return name

    def bind(self, tensor, name, parent=None, view=None):
        """Let a tensor carry a name from now on."""
        if parent is not None:
            cell = parent.cell
        else:
            storage = tensor.untyped_storage()._cdata
            cell = self.cells[storage] = Cell(storage)
        value = Value(tensor, name, cell, parent, view)
        self.known[id(tensor)] = value
        return value

    def lose(self, tensor):
        """Forget how a computed tensor came about: whoever reads it makes the recording fail."""
        self.bind(tensor, "").version = -1

    def find(self, tensor):
        """The value of a tensor that the recording has seen, or None (also if it got other memory behind our back)."""
        value = self.known.get(id(tensor))
        if value is None or value.tensor() is not tensor:
            return None
        return value if value.cell.storage == tensor.untyped_storage()._cdata else None

    def value(self, tensor):
        """The value of a tensor; one that was never seen is an alias of known memory or a new constant."""
        found = self.find(tensor)
        if found is not None:
            return found
        if tensor.layout is not torch.strided or type(tensor) not in (torch.Tensor, torch.nn.Parameter):
            raise Unrecordable("a %s with layout %s" % (type(tensor).__name__, tensor.layout))
        cell = self.cells.get(tensor.untyped_storage()._cdata)
        if cell is not None and cell.alive():
            parent = next((v for v in cell.values if v.parent is None), cell.values[0])
            return self.hang(tensor, parent)
        attribute, path = self.attributes.get(id(tensor), ""), self.where()[0]
        wanted = attribute or ("%s.constant" % path if path else "constant")
        return self.input(tensor, "constant", attribute, wanted)

    def is_scalar(self, tensor):
        """True for a constant without axes: a Python number that torch wrapped."""
        name = self.value(tensor).name
        return tensor.dim() == 0 and any(e["name"] == name and e["kind"] == "constant" for e in self.recording.inputs)

    def hang(self, tensor, parent):
        """Register a tensor that shares its parent's memory, and emit the view that leads to it."""
        view = alias.between(parent, tensor)
        value = self.bind(tensor, "", parent, view)
        value.version = -1
        self.fresh(value)
        return value

    def fresh(self, value):
        """The name that holds what the tensor holds now, rebuilt from its parent if its memory was written."""
        if value.version != value.cell.version:
            if value.parent is None:
                raise Unrecordable("a tensor whose origin is not known any more")
            parent = self.fresh(value.parent)
            if value.view is None:
                raise Unrecordable("a view cannot be rebuilt after its base was written")
            value.name = parent if value.view.op == "alias" else self.emit(
                value.view.op, value.view.overload, value.view.filled(Ref(parent)), [value]
            )[0]
            value.version = value.cell.version
        return value.name

    def read(self, argument):
        """An argument with every tensor replaced by a reference."""
        if isinstance(argument, torch.Tensor):
            return Ref(self.fresh(self.value(argument)))
        if isinstance(argument, (list, tuple)):
            return [self.read(item) for item in argument]
        return argument

    def finish(self, tensors):
        """Set the outputs from (label, tensor) pairs; drop what neither they nor a step beside the flow needs."""
        done, self.where = self.recording, lambda: ("", "")
        done.labels = [label for label, _ in tensors]
        done.outputs = [self.read(tensor).name for _, tensor in tensors]
        done.seen = [twin(tensor) for _, tensor in tensors]
        needed, kept = set(done.outputs), []
        for node in reversed(done.nodes):
            if node["beside"] or needed.intersection(node["outputs"]):
                kept.append(node)
                needed.update(references(list(node["args"].values())))
        done.nodes = kept[::-1]
        done.inputs = [entry for entry in done.inputs if entry["name"] in needed]
        return done

    # -- nodes -------------------------------------------------------------------------------------------------

    def emit(self, op, overload, args, results, defaults=(), writes="", place=None, beside=False):
        """Append a node; return the names of its outputs.

        Args:
            op: ATen name.
            overload: its overload, ``default`` if there is one only.
            args: parameter name -> argument with `Ref`s.
            results: tensors or values that it defines, in order; None for a result that is no tensor.
            defaults: names of the arguments that have the schema's default.
            writes: name of the argument that it writes to.
            place: (module path, source line), by default those of the running call.
            beside: a step to check although nothing reads it, and that the replay leaves away.
        """
        path, source = place or self.where()
        outputs = [self.names.new(op.strip("_") or op) for _ in results]
        self.recording.nodes.append({
            "op": op, "overload": overload, "args": {key: encode(item) for key, item in args.items()},
            "defaults": list(defaults), "writes": writes, "outputs": outputs, "path": path, "source": source,
            "specs": [_spec(result) for result in results], "beside": beside,
        })
        return outputs

    def write(self, value, name):
        """A tensor was written and is now called `name`: its bases follow, all other views of the memory are stale."""
        parents = []
        step = value
        while step.parent is not None:
            # Parents are fresh here: `guard` saw to that before the write.
            parents.append((step, step.parent, step.parent.name))
            step = step.parent
        value.cell.version += 1
        value.name, value.version = name, value.cell.version
        for child, parent, before in parents:
            parent.name = self._scattered(child, parent, before)
            parent.version = value.cell.version

    def _scattered(self, child, parent, before):
        if child.view is None or child.view.inverse is None:
            raise Unrecordable("a write through a view that cannot be undone")
        if child.view.op == "alias":
            return child.name
        op, overload, args = child.view.inverse(Ref(before), Ref(child.name), parent)
        return self.emit(op, overload, args, [parent])[0]

    def guard(self, tensor):
        """Prepare for a write to a tensor: freshen its bases, and keep a graph input as it was before."""
        value = self.value(tensor)
        self.fresh(value)
        root = value
        while root.parent is not None:
            root = root.parent
            self.fresh(root)
        for entry in self.recording.inputs:
            if entry["name"] == root.name and entry["kind"] not in ("constant", "random"):
                entry["tensor"] = twin(entry["tensor"])
        return value

    def shared(self, value):
        """True if something else looks at the memory of a value, or it is a view itself."""
        return value.parent is not None or any(other is not value for other in value.cell.alive())


def _spec(result):
    if result is None:
        return None
    if isinstance(result, Value):
        shape, strides, _ = result.geometry
        return {"shape": list(shape), "dtype": str(result.dtype).split(".")[-1], "strides": list(strides)}
    return describe(result)
