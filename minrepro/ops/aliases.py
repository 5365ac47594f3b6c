"""Second names: ATen keeps an operator for each of PyTorch's synonyms, and a capture shows the one that was called."""

from __future__ import annotations

import msgspec

from minrepro.ops import activation, comparison, pointwise, special
from minrepro.ops.row import Op

NAMES = {
    "abs": ("absolute",),
    "acos": ("arccos",),
    "acosh": ("arccosh",),
    "asin": ("arcsin",),
    "asinh": ("arcsinh",),
    "atan": ("arctan",),
    "atan2": ("arctan2",),
    "atanh": ("arctanh",),
    "clamp": ("clip",),
    "clamp.Tensor": ("clip.Tensor",),
    "digamma": ("special_digamma", "special_psi"),
    "div": ("divide", "true_divide"),
    "erf": ("special_erf",),
    "erfc": ("special_erfc",),
    "erfinv": ("special_erfinv",),
    "exp2": ("special_exp2",),
    "expm1": ("special_expm1",),
    "ge": ("greater_equal",),
    "gt": ("greater",),
    "i0": ("special_i0",),
    "igamma": ("special_gammainc",),
    "igammac": ("special_gammaincc",),
    "le": ("less_equal",),
    "lgamma": ("special_gammaln",),
    "log1p": ("special_log1p",),
    "log_softmax": ("special_log_softmax",),
    "logit": ("special_logit",),
    "lt": ("less",),
    "mul": ("multiply",),
    "mvlgamma": ("special_multigammaln",),
    "ne": ("not_equal",),
    "neg": ("negative",),
    "polygamma": ("special_polygamma",),
    "round": ("special_round",),
    "sigmoid": ("special_expit",),
    "sinc": ("special_sinc",),
    "softmax": ("special_softmax",),
    "sub": ("subtract",),
    "trunc": ("fix",),
    "xlogy": ("special_xlogy",),
}


def _aliases() -> tuple[Op, ...]:
    rows = {row.name: row for table in (activation, comparison, pointwise, special) for row in table.OPS}
    return tuple(
        msgspec.structs.replace(rows[name], name=alias, why=f"the same as {name}")
        for name, aliases in NAMES.items() for alias in aliases
    )


OPS = _aliases()
