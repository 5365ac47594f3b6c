"""Outputs that are not unique: singular vectors up to sign, eigenvalues up to order, factors up to pivoting.

Two right answers may differ there in every element, so that structure, finiteness and the laws of the operator are
compared (`compare.laws`), where it has some. The unique
outputs of the same operators (singular values, determinants, solutions) are compared like any other number.
"""

from __future__ import annotations

from collections.abc import Iterable

from minrepro.ir.graph import Node

_FREE: dict[str, tuple[int, ...]] = {
    "linalg_qr": (0, 1),
    "linalg_svd": (0, 2),
    "_linalg_svd": (0, 2),
    "linalg_eigh": (1,),
    "_linalg_eigh": (1,),
    "linalg_eig": (0, 1),
    "linalg_eigvals": (0,),
    "_linalg_det": (1, 2),
    "_linalg_slogdet": (2, 3),
    "_linalg_solve_ex": (1, 2),
}
"""Operator -> positions of its outputs that are not unique."""


def free(nodes: Iterable[Node]) -> frozenset[str]:
    """The values of a program that are not unique, or that are computed from such a value."""
    found: set[str] = set()
    for node in nodes:
        if found & set(node.inputs):
            found.update(node.outputs)
        found.update(node.outputs[position] for position in _FREE.get(node.op, ()) if position < len(node.outputs))
    return frozenset(found)
