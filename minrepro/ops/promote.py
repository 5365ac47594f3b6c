"""Casts that a port has to write where a framework does not promote operands of mixed types.

Paddle mixes float32 with float64 but refuses int64 with float32 (or with int32, or bool); OneFlow's `where` refuses any
mix. The type to cast to is the one PyTorch computes in, so the cast changes nothing but the refusal.
"""

from __future__ import annotations

import re

import numpy as np

from minrepro.ir.dtype import DTYPES, dtype
from minrepro.ir.tensor import TensorSpec
from minrepro.ops.row import Args, Spelling

CATEGORIES = {"bool": 0, "uint": 1, "int": 1, "float": 2, "complex": 3}
CASTS = {"paddle": "{}.astype('{}')", "oneflow": "{}.to(flow.{})"}


def result_type(operands: list) -> str:
    """The dtype PyTorch computes an elementwise operation in.

    Args:
        operands: a `TensorSpec` or a Python number each. A 0-d tensor, and more so a number, only counts where it is
            of a higher category (bool, integer, float, complex) than what has dimensions.
    """
    tensors = [item for item in operands if isinstance(item, TensorSpec)]
    groups = ([t.dtype for t in tensors if t.shape], [t.dtype for t in tensors if not t.shape], _numbers(operands))
    chosen = ""
    for names in groups:
        if names:
            name = _joined(names)
            higher = not chosen or _category(name) > _category(chosen)
            chosen = name if higher else chosen
    return chosen


def promoted(text: str, framework: str = "paddle", every: bool = False) -> Spelling:
    """The spelling `text` with a cast around each tensor that the framework would refuse to mix with the others.

    Args:
        text: the spelling; its tensor holes are found by name.
        framework: a key of `CASTS`.
        every: True if it refuses every mix, also with numbers; False if it mixes float and complex types by itself.
    """

    def spell(a: Args) -> str:
        operands = {name: value for name, value in vars(a).items() if re.search(rf"\b{name}\b", text)}
        tensors = {k: v for k, v in operands.items() if isinstance(v, TensorSpec) and k != "condition"}
        numbers = [v for v in operands.values() if isinstance(v, (bool, int, float, complex))]
        kinds = {_category(name) for name in (*(t.dtype for t in tensors.values()), *_numbers(numbers))}
        mixed = len({t.dtype for t in tensors.values()}) > 1 or (every and len(kinds) > 1)
        if not mixed or (min(kinds) >= 2 and not every):
            return text
        to, cast = result_type([*tensors.values(), *numbers]), CASTS[framework]
        out = text
        for name, spec in tensors.items():
            if spec.dtype != to:
                out = re.sub(rf"\b{name}\b(?!\s*=[^=])", cast.format(name, to), out)
        return out

    return spell


def _numbers(operands: list) -> list[str]:
    """The dtypes that PyTorch gives to Python numbers."""
    names = {bool: "bool", int: "int64", float: "float32", complex: "complex64"}
    return [names[type(item)] for item in operands if type(item) in names]


def _category(name: str) -> int:
    return CATEGORIES[dtype(name).kind]


def _joined(names: list[str]) -> str:
    """The smallest type that holds all of them, of the highest category among them."""
    highest = max(map(_category, names))
    same = {name for name in names if _category(name) == highest}
    if same == {"float16", "bfloat16"}:
        return "float32"
    if highest == 1:
        return str(np.result_type(*same))
    return max(same, key=lambda name: (DTYPES[name].bits, name))
