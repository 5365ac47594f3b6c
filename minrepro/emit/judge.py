"""What a script compares: the expected value as a literal with its reason, the actual one, and the test between them.

Equality where the operator allows no rounding, NaN being equal to NaN; else the largest legal difference. Values are
compared as plain Python numbers, so that no operator of the framework under test judges itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np

from minrepro.backends import table
from minrepro.compare.laws import MATRIX, laws
from minrepro.emit import literal
from minrepro.emit.parts import Parts
from minrepro.ir.dtype import DTYPES, to_float64
from minrepro.ir.tensor import Tensor

READABLE = 64
"""Elements up to which a result is printed whole; beyond, its worst element is."""

Holes = dict[str, "str | Sequence[str]"]


def expectation(parts: Parts) -> Holes:
    """What is due, what is there, and the test of one against the other."""
    symptom, tensor, variable = parts.finding.divergence.symptom, parts.expected, parts.variable
    shown = {"SHOW_EXPECTED": "expected", "SHOW_ACTUAL": "actual", "LIMIT": ""}
    if parts.finding.divergence.law:
        return shown | _law(parts)
    if symptom == "structure":
        lacking = f'"no gradient" if {variable} is None else "a gradient"'
        return shown | _compared('"a gradient"' if tensor is not None else '"no gradient"', lacking, parts)
    if tensor is None:
        return shown | {
            "EXPECT": [f'expected = "a result"  # {parts.why}'], "ACTUAL": _values(parts), "SAME": "True"
        }
    if symptom == "shape":
        return shown | _compared(str(list(tensor.shape)), f"list({variable}.shape)", parts)
    if symptom == "dtype":
        return shown | _compared(f'"{tensor.dtype.name}"', f'str({variable}.dtype).split(".")[-1]', parts)
    if symptom in ("crash", "hang"):
        return shown | {"EXPECT": [], "ACTUAL": _values(parts), "SAME": "True"}
    if tensor.size > READABLE:
        return shown | _large(parts, tensor)
    listed = literal.numbers(tensor.view, tensor.dtype)
    return shown | _compared(listed, _values(parts), parts) | _same(parts, tensor)


def _law(parts: Parts) -> Holes:
    """What has to be zero for a result that is not unique; its elements are nobody's business."""
    node = parts.finding.case.graph.nodes[0]
    law = next(law for law in laws(node) if law.text == parts.finding.divergence.law)
    read = {"A": node.args[MATRIX[node.op]].name} if re.search(r"\bA\b", law.text) else {}
    read |= {name: node.outputs[i] for i, name in enumerate(law.names) if name}
    variables = [parts.program.variables[parts.names[value]] for value in read.values()]
    arrays = ", ".join(f"np.array({variable}.tolist())" for variable in variables)
    limit = _rounded_up(parts.finding.bound[parts.output])
    return {
        "EXPECT": [f"{', '.join(read)} = {arrays}", f"expected = 0.0  # {law.says}"],
        "ACTUAL": f"float(np.abs({law.text}).max())", "SAME": f"actual <= {limit}",
        "LIMIT": f"rounding explains {limit}",
    }


def _values(parts: Parts) -> str:
    """The output as Python numbers; the outputs of every framework have `tolist`."""
    tensor = parts.expected
    if tensor is not None and tensor.dtype.name == "bfloat16":
        return f"{parts.variable}.to({parts.backend.dtypes['float32']}).tolist()"
    return f"{parts.variable}.tolist()"


def _compared(expected: str, actual: str, parts: Parts) -> Holes:
    line, why = f"expected = {expected}", parts.why
    short = len(line) + len(why) + 4 <= literal.WIDTH
    lines = [f"{line}  # {why}"] if short else [f"# {why}", *literal.wrap(line)]
    return {"EXPECT": lines, "ACTUAL": actual, "SAME": "actual == expected"}


def _same(parts: Parts, tensor: Tensor) -> dict[str, str]:
    """The test for a value: equality where it is due, else the largest difference that is legal."""
    values = to_float64(tensor.view, tensor.dtype)
    finite, bound = np.isfinite(values), parts.finding.bound.get(parts.output, 0.0)
    if bound and finite.any():
        limit = _rounded_up(bound)
        if not finite.all():
            test = f"np.isclose(actual, expected, rtol=0, atol={limit}, equal_nan=True).all()"
        elif tensor.shape == ():
            test = f"abs(actual - expected) <= {limit}"
        else:
            test = f"np.abs(np.subtract(actual, expected)).max() <= {limit}"
        return {"SAME": test, "LIMIT": f"rounding explains {limit}"}
    nan = ", equal_nan=True" if np.isnan(values).any() else ""
    if tensor.size <= READABLE and not _widens(tensor):
        # The short text of a float32 is another float64, so both sides are rounded first.
        narrow = tensor.dtype.name if tensor.dtype.name != "bfloat16" else "float32"
        return {"SAME": f"np.array_equal(np.{narrow}(actual), np.{narrow}(expected){nan})"}
    return {"SAME": f"np.array_equal(actual, expected{nan})" if nan or tensor.size > READABLE else "actual == expected"}


def _widens(tensor: Tensor) -> bool:
    """True if the printed text of every element is exactly its value."""
    base, of = tensor.contiguous().base.reshape(-1), tensor.dtype
    if of.kind == "complex":
        base, of = base.view("float32"), DTYPES["float32"]
    exact = to_float64(base, of)
    return all(math.isnan(value) or float(literal.real_text(item, of)) == value for value, item in zip(exact, base))


def _large(parts: Parts, tensor: Tensor) -> Holes:
    numpy = table()["numpy"]
    wide = Tensor(to_float64(tensor.contiguous().base, tensor.dtype).astype("float32"), "float32")
    dense = wide if tensor.dtype.name == "bfloat16" else tensor.contiguous()
    index = list(parts.finding.divergence.index) or [0] * len(tensor.shape)
    at = ", ".join(map(str, index))
    why = parts.why
    return {
        "EXPECT": [f"# {why}", *literal.assignment("expected", dense, numpy)],
        "ACTUAL": f"np.array({_values(parts)})",
        "SHOW_EXPECTED": f"expected[{at}].item(), 'at [{at}]'",
        "SHOW_ACTUAL": f"actual[{at}].item(), 'at [{at}]'",
    } | _same(parts, tensor)


def _rounded_up(bound: float) -> str:
    """A bound with two digits, never below itself."""
    for digits in range(1, 17):
        number = float(f"{bound:.{digits}e}")
        if bound <= number <= bound * 1.1:
            return repr(number)
    return repr(bound)
