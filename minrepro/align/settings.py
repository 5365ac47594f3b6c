"""What the constructors of two layers were told, in one vocabulary, and where it differs.

Only framework layers of the same kind are compared; a user's attributes mean whatever he likes.
"""

from __future__ import annotations

import math
from typing import Any, Mapping

from minrepro.align.pairing import Module
from minrepro.align.vocabulary import kind, own, spoken

HIDDEN = ("eps is", "momentum is", "p is")
"""Differences that a forward need not show."""


def differences(reference: Module, candidate: Module) -> list[str]:
    """Sentences for the settings in which two layers differ; empty if they agree or cannot be compared."""
    if ".nn." not in reference.type or ".nn." not in candidate.type or kind(reference.type) != kind(candidate.type):
        return []
    left, right = spoken(reference), spoken(candidate)
    found = [
        f"{name} is {_shown(left[name])} on the reference and {_shown(right[name])} on the port"
        for name in sorted(set(left) & set(right)) if not _equal(left[name], right[name])
    ]
    for name in sorted((own(reference) ^ own(candidate)) & {"bias", "weight"}):
        found.append(f"only the {'reference' if name in own(reference) else 'port'}'s layer has a {name}")
    return found


def suspicions(reference: Module, candidate: Module) -> list[str]:
    """Sentences for what explains a divergence of two layers, but is no fault where they agree."""
    if ".nn." not in reference.type or ".nn." not in candidate.type:
        return []
    found = []
    if kind(reference.type) != kind(candidate.type):
        kinds = [module.type.rpartition(".")[2] for module in (reference, candidate)]
        found.append(f"the reference's layer is a {kinds[0]}, the port's a {kinds[1]}")
    row = candidate.settings.get("padding_idx")
    if candidate.type == "paddle.nn.Embedding" and isinstance(row, int) and row >= 0:
        # torch and OneFlow return what the row holds, and only keep gradients from it.
        found.append(f"with padding_idx={row} Paddle's layer returns zeros for {row}, whatever the row of the table holds")
    return found


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, str) != isinstance(b, str):
        return True  # a padding by name and one by number: only their results can be compared
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
