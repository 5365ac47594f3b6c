"""A tensor as source text: its dense base as the shortest exact literal, and the views that give it its layout.

Printing only the values would lose the layout, and with it the bugs that live there. Each number is the shortest text
that gives the same bits on the way that a framework takes: Python float, float32, then the narrower type.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable

import numpy as np

from minrepro.backends import Backend
from minrepro.backends.program import view_texts
from minrepro.ir.dtype import DTYPES, DType, from_float64, to_float64
from minrepro.ir.tensor import Tensor

WIDTH = 110
"""Columns of emitted text before it is wrapped; the steps themselves are never wrapped."""
INLINE = 512
"""Elements up to which a tensor is written as numbers; larger ones are bytes in hexadecimal."""
PATTERNED = ("float32", "float64", "int32", "int64")
"""Dtypes for which every framework has ones, full and arange."""


def assignment(variable: str, tensor: Tensor, backend: Backend) -> list[str]:
    """The lines that bind `variable` to the tensor, layout included.

    Args:
        variable: its name.
        tensor: what to bind.
        backend: the framework whose tensor it becomes; NumPy for an array.
    """
    text = dense(tensor, backend)
    later = []
    for view in view_texts(tensor.spec, backend.style, "HOLE"):
        nested = view.replace("HOLE", text)
        if later or view.count("HOLE") > 1 or "\n" in text or len(nested) + len(variable) + 3 > WIDTH:
            later.append(f"{variable} = {view.replace('HOLE', variable)}")
        else:
            text = nested
    return [*wrap(f"{variable} = {text}"), *later]


def dense(tensor: Tensor, backend: Backend) -> str:
    """The dense base as an expression of the framework."""
    base, name = tensor.base, tensor.dtype.name
    if name == "bfloat16" and name not in backend.dtypes:
        name, of = "uint16", DType("uint16", 16, "uint")  # an array holds bfloat16 as its bits
        target = "np.uint16"
    else:
        of, target = tensor.dtype, backend.dtypes[name]

    def call(template: str, typed: bool, **parts: object) -> str:
        return (template if typed else template.replace(", dtype={dtype}", "")).format(dtype=target, **parts)

    if base.size == 0:
        return call(backend.style["zeros"], name != backend.implied[0], shape=list(base.shape))
    if base.size > INLINE:
        return call(backend.style["literal"], name not in backend.implied, data=_hexadecimal(base, of))
    found = [call(backend.style["literal"], name not in backend.implied, data=numbers(base, of))]
    if name in PATTERNED and base.ndim:
        found += _patterns(base, of, backend, call)
    return min(found, key=len)


def _patterns(base: np.ndarray, of: DType, backend: Backend, call: Callable[..., str]) -> list[str]:
    """Constructors that give exactly this base."""
    zeros, shape = backend.style["zeros"], list(base.shape)
    typed = of.name != backend.implied[0]
    flat = base.reshape(-1)
    if all(item.tobytes() == flat[0].tobytes() for item in flat):
        value = scalar(flat[0], of)
        if value in ("0", "0.0"):
            return [call(zeros, typed, shape=shape)]
        if value in ("1", "1.0"):
            return [call(zeros.replace("zeros(", "ones("), typed, shape=shape)]
        return [call(zeros.replace("zeros({shape}", "full({shape}, {value}"), typed, shape=shape, value=value)]
    start = flat[0]
    counted = (np.arange(base.size) + start).astype(flat.dtype)
    if base.size > 6 and start in (0, 1) and flat.tobytes() == counted.tobytes():
        number = float if of.inexact and not typed else int
        ends = [number(start), number(start + base.size)] if start else [number(base.size)]
        template = zeros.replace("zeros({shape}", f"arange({', '.join(map(repr, ends))}")
        reshape = "" if base.ndim == 1 else f".reshape({shape})"
        return [call(template, typed) + reshape]
    return []


def numbers(array: np.ndarray, of: DType) -> str:
    """A nested list (or one number) of the values."""
    if array.ndim == 0:
        return scalar(array[()], of)
    return "[" + ", ".join(numbers(part, of) for part in array) + "]"


def scalar(value: np.generic, of: DType) -> str:
    """One number as text; ``nan`` and ``inf`` are names that the script imports."""
    if of.kind == "bool":
        return str(bool(value))
    if of.kind in ("int", "uint"):
        return str(int(value))
    if of.kind == "complex":
        part = DTYPES["float32" if of.bits == 64 else "float64"]
        real, imag = real_text(value.real, part), real_text(value.imag, part)
        return f"complex({real}, {imag})"
    return real_text(value, of)


def real_text(value: np.generic, of: DType) -> str:
    """The shortest text whose Python float rounds to the value, directly and by way of float32."""
    exact = float(to_float64(np.asarray(value), of))
    if np.isnan(exact):
        return "nan"
    if np.isinf(exact):
        return "inf" if exact > 0 else "-inf"
    if of.bits == 64:
        return repr(exact)
    candidates = [np.float32(exact)]
    if of.name == "float16":
        candidates.insert(0, np.float16(exact))
    for short in candidates:
        number = float(str(short))
        direct = from_float64(np.float64(number), of)
        through = from_float64(np.float64(np.float32(number)), of)
        if direct == through == np.asarray(value):
            return repr(number)
    return repr(exact)


def special(text: str) -> list[str]:
    """Which of the names ``inf`` and ``nan`` a text of literals uses."""
    return sorted(set(re.findall(r"(?<![\w'\"])(inf|nan)(?![\w'\"])", text)))


def _hexadecimal(base: np.ndarray, of: DType) -> str:
    """Raw bytes, as float32 for bfloat16, for arrays too large to be read anyway."""
    array = to_float64(base, of).astype(np.float32) if of.name == "bfloat16" else base
    little = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<")))
    rows = textwrap.wrap(little.tobytes().hex(), WIDTH - 8)
    text = "\n".join(f'    "{row}"' for row in rows)
    return f"np.frombuffer(bytes.fromhex(\n{text}\n), dtype={array.dtype.str!r}).reshape({list(base.shape)})"


def wrap(line: str) -> list[str]:
    """Break a long assignment of literals after commas, inside its brackets."""
    if len(line) <= WIDTH or "\n" in line:
        return line.splitlines()
    return textwrap.wrap(line, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
