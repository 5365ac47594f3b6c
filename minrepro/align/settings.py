"""What the constructors of two layers were told, in one vocabulary, and where it differs.

Only framework layers of the same kind are compared; a user's attributes mean whatever he likes.
"""

from __future__ import annotations

import math
from typing import Any, Mapping

from minrepro.align.pairing import Module, plain

SAME = {
    "epsilon": "eps", "axis": "dim", "keepdim": "keepdims", "negative_slope": "slope", "groups": "groups",
    "num_groups": "num_groups", "num_channels": "channels", "num_features": "channels", "in_features": "in",
    "in_channels": "in", "out_features": "out", "out_channels": "out", "num_embeddings": "rows",
    "embedding_dim": "width", "ceil_mode": "ceil", "exclusive": "exclusive", "kernel_size": "kernel", "ksize": "kernel",
    "updated_padding": "padding",
}
"""Attribute name, without leading underscores -> the name it is compared under (API guides of the frameworks)."""
COMPARED = {
    "eps", "p", "approximate", "momentum", "stride", "padding", "dilation", "groups", "num_groups", "kernel", "ceil",
    "alpha", "beta", "slope", "num_heads", "bias_free", "align_corners", "mode", "dim",
}
"""What is compared: settings that change a result."""
WITHOUT = {"p": ("dropout",), "mode": ("upsample",), "dim": ("softmax", "logsoftmax", "glu")}
"""Settings that mean the same only in some layers."""
HIDDEN = ("eps is", "momentum is", "p is")
"""Differences that a forward need not show."""
DEFAULTS = {"approximate": "none"}


def differences(reference: Module, candidate: Module) -> list[str]:
    """Sentences for the settings in which two layers differ; empty if they agree or cannot be compared."""
    if ".nn." not in reference.type or ".nn." not in candidate.type or plain(reference.type) != plain(candidate.type):
        return []
    left, right = _settings(reference), _settings(candidate)
    found = []
    for name in sorted(set(left) & set(right)):
        kinds = WITHOUT.get(name)
        if kinds is not None and not plain(reference.type).startswith(kinds):
            continue
        if not _equal(left[name], right[name]):
            found.append(f"{name} is {_shown(left[name])} on the reference and {_shown(right[name])} on the port")
    shapes = {name for name, _ in reference.own} ^ {name for name, _ in candidate.own}
    for name in sorted(shapes & {"bias", "weight"}):
        has = "reference" if name in dict(reference.own) else "port"
        found.append(f"only the {has}'s layer has a {name}")
    return found


def suspicions(reference: Module, candidate: Module) -> list[str]:
    """Sentences for what explains a divergence of two layers, but is no fault where they agree."""
    if ".nn." not in reference.type or ".nn." not in candidate.type:
        return []
    found = []
    kinds = [module.type.rpartition(".")[2] for module in (reference, candidate)]
    if plain(kinds[0]) != plain(kinds[1]):
        found.append(f"the reference's layer is a {kinds[0]}, the port's a {kinds[1]}")
    row = candidate.settings.get("padding_idx")
    if candidate.type == "paddle.nn.Embedding" and isinstance(row, int) and row >= 0:
        # torch and OneFlow return what the row holds, and only keep gradients from it.
        found.append(f"with padding_idx={row} Paddle's layer returns zeros for {row}, whatever the row of the table holds")
    return found


def _settings(module: Module) -> dict[str, Any]:
    found = {}
    paddle = module.type.startswith("paddle.")
    for name, value in module.settings.items():
        name = SAME.get(name, name)
        if name == "approximate" and isinstance(value, bool):
            value = "tanh" if value else "none"
        if name == "momentum" and isinstance(value, float) and paddle and plain(module.type).startswith("batchnorm"):
            value = round(1.0 - value, 12)  # Paddle keeps the share of the old value
        if name in COMPARED:
            found[name] = value
    return found


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, list) != isinstance(b, list):
        one, many = (a, b) if isinstance(b, list) else (b, a)
        return all(_equal(one, item) for item in many)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(_equal, a, b))
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return math.isclose(a, b, rel_tol=1e-6)
    return a == b


def _shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else repr(value)


def compare(pairs: Mapping[str, tuple[Module, Module]]) -> dict[str, list[str]]:
    """Path -> differences, for those that have some."""
    found = {path: differences(*modules) for path, modules in pairs.items()}
    return {path: told for path, told in found.items() if told}
