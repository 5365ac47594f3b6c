"""Stepping through sources, spelling them again and editing them, without any framework."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minrepro.align import worker_side
from minrepro.align.glue import passes
from minrepro.align.glue.reduce import _scaler, factors, plainer_values, root
from minrepro.align.glue.spelling import Unspelled, free, spell
from minrepro.align.glue.trace import Node, Trace, close, gap

worker_side._inside()
recorder = importlib.import_module("minrepro_align_inside.recorder")
stepping = importlib.import_module("minrepro_align_inside.stepping")


# The machine that runs this may be busy: no example is late.
unhurried = settings(deadline=None, max_examples=40)


class Owned(np.ndarray):
    """An array that is copied as tensors are."""

    def clone(self):
        return self.copy()


class Layer:
    """Stands for a module."""

    def __init__(self, **settings):
        vars(self).update(settings)


class Arrays:
    """NumPy as a framework: what stepping asks of one."""

    name, root, Module, folder = "numpy", np, Layer, str(Path(np.__file__).parent) + "/"

    def is_tensor(self, value):
        return isinstance(value, np.ndarray)

    is_leaf = is_value = is_tensor

    def detached(self, value):
        return value.copy()

    def version(self, value):
        return None

    def is_own(self, kind):
        return False


def stepped(function, *args):
    """(result, trace) of a function that was stepped through."""
    notes = recorder.Recorder(Arrays())
    boxes = [notes.of(value, name) for value, name in zip(args, function.__code__.co_varnames)]
    box = stepping.Stepper(Arrays(), notes, {}).function(function, boxes, {})
    nodes = [msgspec.convert(node, Node) for node in notes.nodes]
    values = {number: value for number, value in enumerate(notes.values) if value is not None}
    outputs = [notes.of(box.value).node] if isinstance(box.value, np.ndarray) else []
    return box.value, Trace(nodes, outputs, values, __file__, 1, function.__name__)


def evaluated(trace, scale=lambda value: value):
    """The value of the text that a trace is spelled as."""
    inputs = {n: free(node.label or "x", set()) for n, node in enumerate(trace.nodes) if node.kind == "input"}
    function = spell(trace, trace.outputs[0], inputs, scale)
    names = {name: trace.values[n] for n, name in inputs.items()}
    body = [*function.imports, *function.lines[:-1], "output" + function.lines[-1].replace("return ", " = ", 1)]
    exec("\n".join(body), names)
    return names["output"], function


def helper(x, factor=2.0):
    return x * factor


def straight(x, y):
    z = np.tanh(x) @ y.T
    return z - z.mean(axis=-1, keepdims=True)


def looped(x, y):
    total = np.zeros_like(x)
    for number, row in enumerate([x, y, x]):
        if number == 1:
            continue
        total = total + helper(row, number + 1)
    return total


def written(x, y):
    z = x.copy()
    z[:, 1:] = y[:, :1]
    z += 1
    return z


def unpacked(x, y):
    a, *rest = [x, y, helper(x)]
    first, second = (a + r for r in rest)
    pair = {"one": first, "two": second}
    return np.concatenate([pair["one"], pair["two"]], axis=0)[::2]


def shaped(x, y):
    rows, columns = x.shape
    half = columns // 2
    return x.reshape(rows, half, -1).transpose(0, 2, 1) * columns**-0.5 if columns % 2 == 0 else y


def nested(x, y):
    def both(a, scale=3):
        return (lambda b: b * scale)(a) + y

    with np.errstate(all="ignore"):
        return both(x) if x.ndim == 2 and not y.ndim == 3 else x


FUNCTIONS = [straight, looped, written, unpacked, shaped, nested]
ARRAYS = st.integers(0, 2**31).map(lambda seed: np.random.RandomState(seed).standard_normal((2, 3, 4)).view(Owned))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@unhurried
@given(ARRAYS)
def test_stepping_gives_what_calling_gives_and_so_does_the_text(function, arrays) -> None:
    x, y = arrays
    value, trace = stepped(function, x.copy(), y.copy())
    assert np.array_equal(value, function(x.copy(), y.copy()))
    text_value, text = evaluated(trace)
    assert np.array_equal(text_value, value), text


def test_a_loop_leaves_only_what_the_result_needs() -> None:
    _, text = evaluated(stepped(looped, np.ones((2, 2)), np.zeros((2, 2)))[1])
    assert text.used == ("x",) and not any("for" in line for line in text.lines)


def test_computed_sizes_follow_and_literals_stay() -> None:
    trace = stepped(shaped, np.arange(8.0).reshape(2, 4), np.zeros(1))[1]
    text = evaluated(trace, _scaler({4: 4, 2: 2}))[1]
    assert "reshape(2, 2, -1)" in text.lines[-1] and "transpose(0, 2, 1)" in text.lines[-1] and "* 0.5" in text.lines[-1]
    inputs = {n: "x" for n, node in enumerate(trace.nodes) if node.label == "x"}
    small = spell(trace, trace.outputs[0], inputs, _scaler({4: 2, 2: 1}))
    assert "reshape(1, 1, -1)" in small.lines[-1] and "transpose(0, 2, 1)" in small.lines[-1]


def raising(x, y):
    return np.ones((2, 2)) @ np.ones((3, 3))


def generating(x, y):
    global FUNCTIONS
    return x


def test_the_step_that_raises_is_noted() -> None:
    notes = recorder.Recorder(Arrays())
    with pytest.raises(ValueError, match="mismatch"):
        stepping.Stepper(Arrays(), notes, {}).function(raising, [notes.of(np.ones(1)), notes.of(np.ones(1))], {})
    assert notes.nodes[-1]["kind"] == "raised" and notes.nodes[-1]["error"] == "ValueError"


def test_what_is_not_understood_is_refused() -> None:
    with pytest.raises(recorder.Unfollowed, match="Global"):
        stepped(generating, np.ones(1), np.ones(1))


def test_a_value_without_a_text_has_to_be_given() -> None:
    node = Node("opaque", "", (), {}, 1)
    with pytest.raises(Unspelled):
        spell(Trace([node], [0], {0: np.ones(2)}, "", 1, "f"), 0, {})
    assert spell(Trace([node], [0], {0: np.ones(2)}, "", 1, "f"), 0, {0: "x"}).lines == ("return x",)


# -- edits -----------------------------------------------------------------------------------------------------------

LEAVES = st.sampled_from(["x", "y", "2", "-1", "np.abs(x)", "x[0]"])
EXPRESSIONS = st.recursive(LEAVES, lambda inner: st.one_of(
    st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
    inner.map(lambda e: f"np.add({e}, 1.0, dtype='float64')"),
    inner.map(lambda e: f"np.asarray({e}).sum(axis=None, keepdims=True)"),
    inner.map(lambda e: f"-({e})"),
), max_leaves=8)


@unhurried
@given(EXPRESSIONS)
def test_every_edit_is_python_and_makes_the_text_shorter(expression: str) -> None:
    source = f"return {expression}"
    for edit in passes.edits(source):
        made = passes.apply(source, edit)
        assert made is not None
        ast.parse(f"def f():\n    {made}")
        assert len(list(ast.walk(ast.parse(made)))) < len(list(ast.walk(ast.parse(source))))
    assert passes.apply(source, passes.Edit(999, "part", 0)) is None


@unhurried
@given(st.lists(EXPRESSIONS, min_size=1, max_size=3), EXPRESSIONS)
def test_putting_variables_in_their_place_keeps_the_value(values, last) -> None:
    lines = [f"v{i} = {value}" for i, value in enumerate(values)]
    lines.append("return " + " + ".join([f"v{i}" for i in range(len(values))] + [last]))
    made = passes.inline("\n".join(lines))

    def run(source: str):
        names = {"np": np, "x": np.arange(3.0), "y": np.ones(3)}
        exec("def f():\n" + "\n".join("    " + line for line in source.splitlines()), names)
        return names["f"]()

    assert np.array_equal(run(made), run("\n".join(lines)))
    assert passes.names(made) <= passes.names("\n".join(lines))


def test_a_variable_that_is_written_to_stays() -> None:
    source = "z = x.copy()\nz[0] = y[0]\nreturn z"
    assert passes.inline(source) == source


def test_only_edits_of_calls_drop_keywords() -> None:
    source = "return f(x, dim=1).contiguous()"
    made = {passes.apply(source, edit) for edit in passes.edits(source)}
    assert made == {"return f(x, dim=1)", "return x.contiguous()", "return f(x).contiguous()"}


# -- sizes and values --------------------------------------------------------------------------------------------------


@unhurried
@given(st.integers(2, 5000), st.sampled_from([-0.5, 0.5, -1.0]), st.integers(1, 9))
def test_a_power_of_a_size_follows_it(size: int, power: float, new: int) -> None:
    constant = float(size) ** power
    found = root(constant)
    assert found is not None and float(found[0]) ** found[1] == pytest.approx(constant)
    scaled = _scaler({found[0]: new})(constant)
    assert scaled == pytest.approx(float(new) ** found[1] if new != found[0] else constant)
    assert _scaler({})(constant) == constant


def test_a_constant_of_no_size_stays() -> None:
    assert root(0.044715) is None and root(1.0) is None and root(-0.5) is None
    assert _scaler({8: 1})(0.044715) == 0.044715
    assert factors(24, (2, 3, 8, 21)) == (3, 8) and factors(8, (3, 8)) == (8,) and factors(35, (2, 3)) == ()
    assert _scaler({3: 2, 8: 1})([24, 8, (3, True)]) == [24, 1, (2, True)]


@unhurried
@given(st.integers(0, 99), st.sampled_from(["float32", "int64", "bool"]))
def test_plainer_values_keep_shape_and_dtype(seed: int, of: str) -> None:
    value = (np.random.RandomState(seed).standard_normal((2, 3)) * 9).astype(of)
    for plainer in plainer_values(value):
        assert plainer.shape == value.shape and plainer.dtype == value.dtype


def test_gaps() -> None:
    a = np.array([1.0, np.nan, np.inf], "float32")
    assert gap(a, a) == 0.0 and close(a, a) and gap(a, np.array([1.0, np.nan, -np.inf], "float32")) == np.inf
    huge = np.array([0.0, -3.4e38], "float32")
    assert gap(huge, huge[::-1].copy()) > 1 and close(huge, huge)
    assert not close(np.ones(2), np.ones(2, "float32")) and not close(np.ones(2), np.ones((1, 2)))
    assert close(np.ones(2), np.ones(2) + 1e-7) and not close(np.ones(2), np.ones(2) + 1e-3)
