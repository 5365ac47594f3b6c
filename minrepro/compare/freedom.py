"""Outputs that are not unique: singular vectors up to sign, eigenvalues up to order, factors up to pivoting.

Two right answers may differ there in every element, so that structure, finiteness and the laws of the operator are
compared (`compare.laws`), where it has some. The unique outputs of the same operators (singular values, determinants,
solutions) are compared like any other number. A gradient goes through the unique outputs only, and by the inputs only
whose every element the result depends on. Where eigenvalues coincide that of each of them depends on the choice of
vectors, and so does that of singular values, which have no gradient at zero either: whether they do is in the values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from minrepro.ir.graph import Node, Ref
from minrepro.ir.tensor import Tensor
from minrepro.ops.gradient import differentiated, is_gradient

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


_UNORDERED: dict[str, tuple[int, ...]] = {"linalg_eig": (0,), "linalg_eigvals": (0,)}
"""Operator -> positions of its outputs that are unique up to their order."""
_SYMMETRIC: dict[str, tuple[str, str]] = {
    "cholesky_solve": ("input2", ""),
    "cholesky_inverse": ("self", ""),
    "linalg_pinv": ("self", "hermitian"),
    "linalg_pinv.rtol_tensor": ("self", "hermitian"),
    "linalg_matrix_rank": ("self", "hermitian"),
}
"""Operator -> a matrix of which it reads one triangle, and the flag that makes it do so (always if there is none). What
the other triangle gets of the gradient is a choice."""

_SPECTRA: dict[str, tuple[str, bool]] = {
    "linalg_eigh": ("self", True),
    "_linalg_eigh": ("A", True),
    "linalg_eigvalsh": ("self", True),
    "linalg_svd": ("A", False),
    "_linalg_svd": ("A", False),
    "linalg_svdvals": ("A", False),
}
"""Operator -> the matrix whose spectrum it gives, and if that are eigenvalues."""
TOGETHER = 8.0
"""Roundings of the largest value, for each row, within which two values of a spectrum count as one."""


def merged(node: Node, feeds: Mapping[str, Tensor]) -> bool:
    """True if a step is the gradient of a spectrum of which some values coincide, so that it is not unique.

    Args:
        node: the step.
        feeds: what it reads.
    """
    param, eigenvalues = _SPECTRA.get(differentiated(node.op), ("", False))
    if not param or not is_gradient(node.op):
        return False
    matrix = feeds[node.args[param].name]
    values = matrix.values
    if not values.size or not np.isfinite(values).all():
        return False
    if eigenvalues:
        found = np.linalg.eigvalsh(values, node.args.get("UPLO", "L"))
    else:
        found = np.sort(np.linalg.svd(values, compute_uv=False), -1)
        found = np.concatenate([np.zeros((*found.shape[:-1], 1)), found], -1)
    limit = TOGETHER * max(values.shape[-2:]) * matrix.dtype.roundoff * np.abs(found).max(-1, keepdims=True)
    return bool((np.diff(found, axis=-1) <= limit).any())


def unordered(node: Node) -> frozenset[str]:
    """The results of a step that are unique up to their order: what treats all of them alike is unique."""
    return frozenset(node.outputs[position] for position in _UNORDERED.get(node.op, ()) if position < len(node.outputs))


def undetermined(node: Node) -> frozenset[str]:
    """The inputs of a step by which its gradient is not unique."""
    param, flag = _SYMMETRIC.get(node.op, ("", ""))
    arg = node.args.get(param)
    return frozenset({arg.name}) if isinstance(arg, Ref) and (not flag or node.args.get(flag)) else frozenset()


def free(nodes: Iterable[Node]) -> frozenset[str]:
    """The values of a program that are not unique, or that are computed from such a value."""
    found: set[str] = set()
    for node in nodes:
        if found & set(node.inputs):
            found.update(node.outputs)
        found.update(node.outputs[position] for position in _FREE.get(node.op, ()) if position < len(node.outputs))
    return frozenset(found)
