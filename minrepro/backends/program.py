"""A case on one backend as source text. The worker runs this text, and the emitter prints it."""

from __future__ import annotations

import keyword
import re
from typing import Mapping

import msgspec

from minrepro import ops
from minrepro.backends import Backend, gradient, table
from minrepro.errors import Unsupported
from minrepro.ir.dtype import dtype
from minrepro.ir.graph import Graph, Node, refs
from minrepro.ir.tensor import Expand, Permute, Slice, TensorSpec
from minrepro.ops.gradient import is_gradient
from minrepro.ops.row import Op, Text, render


class Step(msgspec.Struct, frozen=True):
    """The lines of one node and the variables that hold its outputs afterwards."""

    node: str
    lines: tuple[str, ...]
    variables: tuple[str, ...]


class Feed(msgspec.Struct, frozen=True):
    """One fed value: its variable, whether it stays a NumPy array, and the expressions that view the dense base."""

    value: str
    variable: str
    array: bool
    views: tuple[str, ...]


class Program(msgspec.Struct, frozen=True):
    """Feeds, steps, where each value ends up, and whether gradients have to be recorded."""

    feeds: tuple[Feed, ...]
    steps: tuple[Step, ...]
    variables: Mapping[str, str]
    gradients: bool = False

    def imports(self, backend: Backend) -> tuple[str, ...]:
        """The import lines that the text needs."""
        text = "\n".join(line for part in self.steps for line in part.lines)
        text += "\n".join(line for feed in self.feeds for line in feed.views)
        return tuple(line for root, line in backend.imports.items() if re.search(rf"\b{root}\.", text))


def filling(byte: int) -> tuple[str, ...]:
    """Lines after which fresh memory holds the complement of a byte, with glibc (mallopt(3), M_PERTURB)."""
    return "import ctypes", f"ctypes.CDLL(None).mallopt(-6, {byte})"


def program(graph: Graph, specs: Mapping[str, TensorSpec], backend: Backend, terse: bool = False) -> Program:
    """Spell a graph on a backend.

    Args:
        graph: the program.
        specs: spec of every value that a node reads (fed or computed); spellings may depend on rank and dtype.
        backend: the framework.
        terse: leave arguments away that equal their defaults.

    Raises:
        Unsupported: naming operator, backend, module path and source line.
    """
    _typed(graph, backend, specs)
    names = _variables(graph, backend)
    arrays = array_feeds(graph)
    feeds = tuple(
        Feed(
            name, names[name], name in arrays,
            view_texts(specs[name], (table()["numpy"] if name in arrays else backend).style, names[name]),
        )
        for name in graph.inputs
    )
    steps = []
    for node in graph.nodes:
        row = ops.find(node.op)
        where = f" (module {node.path or 'root'!r}, {node.source or 'no source line'})"
        if row is None:
            raise Unsupported(f"the operator {node.op!r} has no row in ops/{where}")
        try:
            text = _spelled(node, row, backend, specs, names, terse)
        except Unsupported as error:
            raise Unsupported(f"{error}{where}") from None
        except KeyError as error:
            raise Unsupported(f"{node.op!r} on {backend.title}: there is no {error}{where}") from None
        for value, variable in zip(node.outputs, text.variables):
            names[value] = variable
        steps.append(Step(node.name, text.lines, text.variables))
    return Program(feeds, tuple(steps), names, any(is_gradient(node.op) for node in graph.nodes))


def _spelled(
    node: Node, row: Op, backend: Backend, specs: Mapping[str, TensorSpec], names: Mapping[str, str], terse: bool
) -> Text:
    outputs = tuple(names[name] for name in node.outputs)
    if is_gradient(node.op):
        return gradient.text(node, backend, outputs, specs, names, terse)
    spelling, rename = backend.spelling(row)
    return render(
        row, backend.name, spelling, node.args, outputs,
        specs=specs, names=names, dtypes=backend.dtypes, rename=rename, terse=terse,
    )


def _typed(graph: Graph, backend: Backend, specs: Mapping[str, TensorSpec]) -> None:
    """Refuse inputs of a dtype that the framework does not have at all: none of its operators is to blame for that."""
    strange = sorted({specs[name].dtype for name in graph.inputs} - set(backend.dtypes))
    if strange:
        raise Unsupported(f"{backend.title} has no {strange[0]}, which {graph.nodes[0].op if graph.nodes else 'it'} gets")


def array_feeds(graph: Graph) -> frozenset[str]:
    """Graph inputs that every reader takes as a NumPy array (the sources of weight loading)."""
    as_array: set[str] = set()
    as_tensor: set[str] = set()
    for node in graph.nodes:
        row = ops.find(node.op)
        for key, arg in node.args.items():
            readers = as_array if row is not None and key in row.arrays else as_tensor
            readers.update(ref.name for ref in refs(arg))
    return frozenset(name for name in graph.inputs if name in as_array - as_tensor)


def identifier(value: str, backend: Backend) -> str:
    """The variable that holds a value unless another value of the same program took it."""
    stem = re.sub(r"\W", "_", value)
    reserved = stem in ("np", "sys") or stem in backend.imports
    return f"v_{stem}" if reserved or not stem.isidentifier() or keyword.iskeyword(stem) else stem


def _variables(graph: Graph, backend: Backend) -> dict[str, str]:
    taken = {"np", "sys", *backend.imports}
    chosen: dict[str, str] = {}
    for value in (*graph.inputs, *(name for node in graph.nodes for name in node.outputs)):
        stem = identifier(value, backend)
        name, count = stem, 2
        while name in taken:
            name, count = f"{stem}_{count}", count + 1
        taken.add(name)
        chosen[value] = name
    return chosen


def view_texts(spec: TensorSpec, style: Mapping[str, str], variable: str) -> tuple[str, ...]:
    """The links of a layout as expressions over `variable`, to be applied one after the other.

    Args:
        spec: the tensor.
        style: `Backend.style` of the framework that holds it (NumPy's for an array).
        variable: name of the variable that holds the dense base at first.
    """
    texts = []
    expanded = [link.axis for link in spec.layout.links if isinstance(link, Expand)]
    for link in spec.layout.links:
        if isinstance(link, Permute):
            short = style["transpose"] if link.order == (1, 0) else style["permute"]
            texts.append(short.format(x=variable, order=list(link.order)))
        elif isinstance(link, Slice):
            texts.append(style["slice"].format(x=variable, index=", ".join([":"] * link.axis + [link.index])))
        elif isinstance(link, Expand):
            expanded.remove(link.axis)
            shape = [1 if axis in expanded else extent for axis, extent in enumerate(spec.shape)]
            texts.append(style["expand"].format(x=variable, shape=shape))
        else:
            width = dtype(spec.dtype).bits // 8
            texts.append(
                style["strided"].format(
                    x=variable, shape=list(link.shape), strides=list(link.strides),
                    offset=link.offset, offset_bytes=link.offset * width,
                )
            )
    return tuple(texts)
