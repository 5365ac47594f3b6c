"""What has to hold for results that are not unique: the factors multiply to the input, and are orthogonal.

Singular vectors are free in their signs, eigenvectors in sign and phase, eigenvalues of a general matrix in their order.
So no element of them is compared, but each side has to keep the laws of its operator. A backward stable algorithm breaks
them by a small multiple of roundoff times the size of the matrix (Golub and Van Loan, Matrix Computations, 5.2 and 8.6).

A law is a NumPy expression that is zero where it holds; the verdict evaluates it, and a script prints it.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from minrepro.ir.graph import Node, Ref
from minrepro.ir.tensor import Tensor

LEGAL = 32.0
"""Residues up to this many times roundoff, order and size of the matrix are rounding; torch and Paddle stay below 4."""
MATRIX = {"linalg_svd": "A", "_linalg_svd": "A", "linalg_eigh": "self", "_linalg_eigh": "A", "linalg_qr": "A",
          "linalg_eig": "self", "linalg_eigvals": "self"}
"""Operator -> the parameter that is decomposed."""


class Law(msgspec.Struct, frozen=True):
    """One law of a decomposition.

    Attributes:
        says: in words.
        text: expression in ``A`` and the outputs; zero where the law holds.
        names: the outputs in order, as `text` calls them; "" for one that it does not read.
        judges: position of the output that is wrong if it does not hold.
        power: by which power of the matrix the expression grows.
    """

    says: str
    text: str
    names: tuple[str, ...]
    judges: int = 0
    power: int = 1


def _orthogonal(name: str, names: tuple[str, ...], judges: int, rows: bool = False) -> Law:
    what, product = ("rows", f"{name} @ {name}.conj().swapaxes(-1, -2)") if rows else (
        "columns", f"{name}.conj().swapaxes(-1, -2) @ {name}"
    )
    size = f"{name}.shape[{-2 if rows else -1}]"
    return Law(f"the {what} of {name} are orthonormal", f"{product} - np.eye({size})", names, judges, 0)


_U, _V, _W, _Q = ("U", "S", "Vh"), ("w", "V"), ("w",), ("Q", "R")
_SVD = (
    Law("U diag(S) Vh is A", "(U[..., : S.shape[-1]] * S[..., None, :]) @ Vh[..., : S.shape[-1], :] - A", _U),
    _orthogonal("U", ("U", "", ""), 0),
    _orthogonal("Vh", ("", "", "Vh"), 2, rows=True),
)
_SPECTRUM = (
    Law("the eigenvalues add up to the trace", "w.sum(-1) - np.trace(A, axis1=-2, axis2=-1)", _W),
    Law("their squares add up to that of A @ A", "(w**2).sum(-1) - np.trace(A @ A, axis1=-2, axis2=-1)", _W, power=2),
    Law(
        "A less an eigenvalue is singular",
        "np.linalg.svd(A[..., None, :, :] - w[..., None, None] * np.eye(A.shape[-1]), compute_uv=False)[..., -1]", _W,
    ),
)
_QR = (
    Law("Q R is A", "Q @ R - A", _Q),
    _orthogonal("Q", ("Q", ""), 0),
    Law("R is upper triangular", "np.tril(R, -1)", ("", "R"), 1),
)
_SYMMETRIC = {
    "L": "(np.tril(A) + np.tril(A, -1).conj().swapaxes(-1, -2))",
    "U": "(np.triu(A) + np.triu(A, 1).conj().swapaxes(-1, -2))",
}


def laws(node: Node) -> tuple[Law, ...]:
    """The laws of a step; none if its results are unique, or nothing is known of them."""
    if node.op in ("linalg_svd", "_linalg_svd"):
        return _SVD
    if node.op == "linalg_qr":
        return _QR
    if node.op in ("linalg_eigh", "_linalg_eigh"):
        half = _SYMMETRIC[str(node.args.get("UPLO", "L")).upper()]
        return Law("A V is V diag(w)", f"{half} @ V - V * w[..., None, :]", _V, 1), _orthogonal("V", ("", "V"), 1)
    if node.op == "linalg_eig":
        pairs = Law("A V is V diag(w)", "A @ V - V * w[..., None, :]", _V, 1)
        unit = Law("the columns of V have length 1", "np.linalg.norm(V, axis=-2) - 1", ("", "V"), 1, 0)
        return (pairs, unit, *_SPECTRUM)
    return _SPECTRUM if node.op == "linalg_eigvals" else ()


class Broken(msgspec.Struct, frozen=True):
    """A law that an outcome does not keep: by how much, and how much rounding explains."""

    law: Law
    output: str
    residue: float
    scale: float

    @property
    def bound(self) -> float:
        """The largest residue that is rounding."""
        return LEGAL * self.scale

    @property
    def ratio(self) -> float:
        """The residue in units of what rounding explains."""
        return self.residue / self.scale


def worst(node: Node, feeds: Mapping[str, Tensor], values: Mapping[str, Tensor]) -> Broken | None:
    """The law that an outcome keeps least; None if none can be asked."""
    ref = node.args.get(MATRIX.get(node.op, ""))
    if not isinstance(ref, Ref) or ref.name not in feeds:
        return None
    a = feeds[ref.name].values
    found = []
    for law in laws(node):
        outputs = {called: values.get(node.outputs[i]) for i, called in enumerate(law.names) if called}
        if any(value is None or not value.size for value in outputs.values()):
            continue
        # Our own expressions, not input.
        with np.errstate(all="ignore"):
            try:
                off = np.abs(eval(law.text, {"np": np, "A": a, **{k: v.values for k, v in outputs.items()}}))
            except (ValueError, np.linalg.LinAlgError):
                continue
        roundoff = max(value.dtype.roundoff for value in outputs.values())
        size = float(np.sqrt(np.max(np.sum(np.abs(a) ** 2, axis=(-2, -1)))))
        scale = roundoff * max(a.shape[-2:]) * size**law.power
        if off.size and scale > 0:
            found.append(Broken(law, node.outputs[law.judges], float(np.max(off)), scale))
    return max(found, key=lambda broken: broken.ratio, default=None)
