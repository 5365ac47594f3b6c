"""What an operator row is, and how its spelling becomes source text.

A spelling is a piece of Python whose free names are ATen's parameter names. Those names are holes: a tensor hole
becomes the name of a variable, a constant hole its literal. The worker runs the resulting text and the emitter
prints the same text, so there is no second implementation that could disagree with the script.

    op("softmax(self, dim, dtype=None)", kind="reduction", torch="torch.softmax(self, dim, dtype=dtype)")

Rules for spellings:
  * One expression whose value is the result (a tuple or list if the node has several outputs); or statements that
    end with ``out = ...``. A hole may be written to (``self.fill_(value)``).
  * ``name=hole`` and trailing positional holes are dropped where the argument is None and None is the default.
  * With `terse`, ``name=hole`` is dropped where the argument equals the signature's default. The reducer turns this
    on only after a run showed that nothing changes.
  * ``tensors[1]`` is the second element of a tuple argument.
  * A spelling may be a function of `Args` that returns the text, for what depends on rank, dtype or values. It
    raises `Unsupported` with a reason where the framework has nothing.
"""

from __future__ import annotations

import ast
import math
from typing import Any, Callable, Mapping, Union

import msgspec

from minrepro.errors import Unsupported
from minrepro.ir.dtype import DType
from minrepro.ir.graph import Arg, Ref
from minrepro.ir.tensor import Tensor, TensorSpec

KINDS = ("exact", "rounded", "faithful", "reduction", "index", "random", "iterative")
"""Operator classes of the verdict: bit equal; correctly rounded; faithful elementwise; reduction; index; random; iterative."""


class Args:
    """The arguments of one node as attributes: constants as they are, tensors as `TensorSpec`.

    ``a.self.ndim`` is spelled ``len(a.self.shape)``. `a.given(name)` tells whether an argument differs from None.
    """

    def __init__(self, values: Mapping[str, Any]):
        self.__dict__.update(values)

    def given(self, name: str) -> bool:
        """True if the argument is there and not None."""
        return self.__dict__.get(name) is not None


Spelling = Union[str, Callable[[Args], str]]


class Op(msgspec.Struct, frozen=True):
    """One operator.

    Attributes:
        name: ATen name; with an overload (``max.dim``) where overloads mean different things.
        params: parameter name -> default (`REQUIRED` if there is none), in order.
        kind: one of `KINDS`.
        spellings: backend name -> spelling.
        dims: which positions share a size, as ``"input: *b i, weight: o i, bias: o"``; ``"broadcast"`` if all
            tensors broadcast together; ``""`` if every axis is free.
        length: number of terms that are added up for one output element, from the `Args`; None means the last
            axis of the largest input.
        reach: largest position that an operator computes in floating point to interpolate between neighbours: frameworks
            round such a position to float32, however precise the values are. None where there is none.
        samples: argument sets that the conformance suite runs on every backend.
        arrays: parameters that arrive as NumPy arrays and not as tensors of the framework (weight loading).
        mutates: parameters whose tensor the call writes to; the result is the written tensor.
        why: remark for `minrepro list ops`, with the source of anything surprising.
    """

    name: str
    params: Mapping[str, Any]
    kind: str
    spellings: Mapping[str, Spelling]
    dims: str = ""
    length: Callable[[Args], int] | None = None
    reach: Callable[[Args], int] | None = None
    samples: tuple[Mapping[str, Any], ...] = ()
    arrays: tuple[str, ...] = ()
    mutates: tuple[str, ...] = ()
    why: str = ""


REQUIRED = type("Required", (), {"__repr__": lambda self: "REQUIRED"})()


def op(
    signature: str,
    *,
    kind: str,
    dims: str = "",
    length: Callable[[Args], int] | None = None,
    reach: Callable[[Args], int] | None = None,
    samples: tuple[Mapping[str, Any], ...] | list = (),
    arrays: tuple[str, ...] = (),
    mutates: tuple[str, ...] = (),
    why: str = "",
    **spellings: Spelling,
) -> Op:
    """Make a row from a signature like ``"softmax(self, dim, dtype=None)"``.

    Raises:
        ValueError: if the signature does not parse or the kind is not one of `KINDS`.
    """
    if kind not in KINDS:
        raise ValueError(f"{signature}: kind {kind!r} is not one of {', '.join(KINDS)}")
    head, _, rest = signature.partition("(")
    tree = ast.parse(f"def f({rest}: pass").body[0]
    assert isinstance(tree, ast.FunctionDef)
    names = [arg.arg for arg in tree.args.args]
    defaults = [ast.literal_eval(node) for node in tree.args.defaults]
    params = dict(zip(names, [REQUIRED] * (len(names) - len(defaults)) + [_freeze(d) for d in defaults]))
    return Op(
        head.strip(), params, kind, spellings, dims, length, reach, tuple(samples), tuple(arrays), tuple(mutates), why
    )


def _freeze(value: Any) -> Any:
    return tuple(_freeze(item) for item in value) if isinstance(value, (list, tuple)) else value


class Text(msgspec.Struct, frozen=True):
    """A rendered step: statements, and the variable that holds each output afterwards."""

    lines: tuple[str, ...]
    variables: tuple[str, ...]


def render(
    row: Op,
    backend: str,
    spelling: Spelling,
    args: Mapping[str, Arg],
    outputs: tuple[str, ...],
    *,
    specs: Mapping[str, TensorSpec],
    names: Mapping[str, str],
    dtypes: Mapping[str, str],
    rename: Mapping[str, str] = {},
    terse: bool = False,
) -> Text:
    """Turn one node into source text.

    Args:
        row: the operator.
        backend: its name, for messages.
        spelling: the text or function to use.
        args: the node's arguments.
        outputs: variable names wanted for the outputs.
        specs: value name -> spec, for spellings that are functions.
        names: value name -> variable name.
        dtypes: dtype name -> source text of the backend's dtype.
        rename: root names to replace (``torch`` -> ``flow``).
        terse: drop ``name=hole`` where the argument equals the default.

    Raises:
        Unsupported: if the spelling function says so.
    """
    bound = {name: args.get(name, default) for name, default in row.params.items()}
    missing = [name for name, value in bound.items() if value is REQUIRED]
    if missing:
        raise Unsupported(f"{row.name} on {backend}: the argument {missing[0]!r} is missing")
    for name in row.arrays:
        if isinstance(bound[name], Ref) and specs[bound[name].name].dtype == "bfloat16":
            raise Unsupported(f"{row.name}: {name!r} is an array and NumPy has no bfloat16; load it as float32")
    try:
        text = spelling if isinstance(spelling, str) else spelling(Args(bind(row, args, specs)))
    except IndexError:
        raise Unsupported(f"{row.name} on {backend}: an argument names an axis or an element that is not there") from None
    tree = ast.parse(text)
    filler = _Filler(bound, row.params, names, dtypes, {**rename, **_locals(tree, row, outputs[0])}, terse)
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        return Text(_lines([*map(filler.visit, tree.body[:-1]), _assign(outputs, filler.visit(last.value))]), outputs)
    if not isinstance(last, ast.Assign):
        raise ValueError(f"{row.name} on {backend}: a spelling in statements must end with 'out = ...'")
    body = [filler.visit(statement) for statement in tree.body]
    tail = body[-1]
    if len(outputs) > 1:
        return Text(_lines([*body[:-1], _assign(outputs, tail.value)]), outputs)
    if isinstance(tail.value, ast.Name) and len(body) > 1 and tail.targets[0].id == outputs[0]:
        # `out = x` only gives a written tensor a second name: use the first one.
        return Text(_lines(body[:-1]), (tail.value.id,))
    return Text(_lines(body), outputs)


def _locals(tree: ast.Module, row: Op, output: str) -> dict[str, str]:
    """Names that a spelling in statements assigns itself: ``out`` is the output, the others get its name in front."""
    stored = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return {name: output if name == "out" else f"{output}_{name}" for name in stored - set(row.params)}


def bind(row: Op, args: Mapping[str, Arg], specs: Mapping[str, TensorSpec]) -> dict[str, Any]:
    """Every parameter of an operator with its argument or default, tensors as their specs."""

    def one(arg: Arg) -> Any:
        if isinstance(arg, Ref):
            return specs[arg.name]
        return tuple(one(item) for item in arg) if isinstance(arg, tuple) else arg

    return {name: one(args.get(name, default)) for name, default in row.params.items()}


def _assign(targets: tuple[str, ...], value: ast.expr) -> ast.stmt:
    names = [ast.Name(target, ast.Store()) for target in targets]
    return ast.Assign([names[0] if len(names) == 1 else ast.Tuple(names, ast.Store())], value)


def _lines(body: list[ast.stmt]) -> tuple[str, ...]:
    return tuple(
        line
        for statement in body
        for line in ast.unparse(ast.fix_missing_locations(ast.Module([statement], []))).splitlines()
    )


def literal(value: Arg, names: Mapping[str, str], dtypes: Mapping[str, str]) -> ast.expr:
    """A constant argument as an expression; `Ref`s become variables, dtypes the backend's spelling."""
    if isinstance(value, Ref):
        return ast.Name(names[value.name], ast.Load())
    if isinstance(value, tuple):
        return ast.List([literal(item, names, dtypes) for item in value], ast.Load())
    if isinstance(value, DType):
        return ast.parse(dtypes[value.name], mode="eval").body
    if isinstance(value, float) and not math.isfinite(value):
        return ast.parse(f"float({str(value)!r})", mode="eval").body
    return ast.parse(repr(value), mode="eval").body


class _Filler(ast.NodeTransformer):
    """Replaces holes; see the rules at the top of the module."""

    def __init__(self, bound, params, names, dtypes, rename, terse):
        self.bound, self.params, self.names = bound, params, names
        self.dtypes, self.rename, self.terse = dtypes, rename, terse

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.bound:
            return literal(self.bound[node.id], self.names, self.dtypes)
        return ast.Name(self.rename.get(node.id, node.id), node.ctx)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        hole = node.value
        if isinstance(hole, ast.Name) and isinstance(self.bound.get(hole.id), tuple):
            index = node.slice
            if isinstance(index, ast.Constant) and isinstance(index.value, int):
                return literal(self.bound[hole.id][index.value], self.names, self.dtypes)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        keywords = [k for k in node.keywords if not self._droppable(k.value, self.terse and k.arg is not None)]
        positional = list(node.args)
        while positional and not node.keywords and self._droppable(positional[-1], False):
            positional.pop()
        return self.generic_visit(ast.Call(node.func, positional, keywords))

    def _droppable(self, value: ast.expr, terse: bool) -> bool:
        if not isinstance(value, ast.Name) or value.id not in self.bound:
            return False
        actual, default = self.bound[value.id], self.params[value.id]
        if default is REQUIRED:
            return False
        return (actual is None and default is None) or (
            terse and type(actual) is type(default) and not isinstance(actual, (Ref, Tensor)) and actual == default
        )
