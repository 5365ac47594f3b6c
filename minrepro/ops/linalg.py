"""Inverses, determinants, solvers, powers and norms of matrices. OneFlow 0.9 has the inverse and some norms only."""

from __future__ import annotations

import numpy as np

from minrepro.errors import Unsupported
from minrepro.ir.tensor import Tensor
from minrepro.ops.absent import absent
from minrepro.ops.row import Args, op
from minrepro.ops.sample import drawn, normal, values

EPSILON = {"float32": 2.0**-23, "float64": 2.0**-52, "complex64": 2.0**-23, "complex128": 2.0**-52}


@drawn
def square(*shape: int, seed: int = 0) -> Tensor:
    """A general matrix (or a batch) far from singular."""
    return values(normal(*shape, seed=seed).values + shape[-1] * np.eye(shape[-1]))


@drawn
def definite(*shape: int, seed: int = 0) -> Tensor:
    """A symmetric positive definite matrix (or a batch)."""
    factor = normal(*shape, seed=seed).values
    return values(factor @ factor.swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1]))


@drawn
def symmetric(*shape: int, seed: int = 0) -> Tensor:
    """A symmetric matrix (or a batch) with distinct eigenvalues."""
    factor = normal(*shape, seed=seed).values
    return values(factor + factor.swapaxes(-1, -2) + 3 * np.diag(np.arange(shape[-1])))


@drawn
def triangular(n: int, lower: bool = True) -> Tensor:
    """A triangular matrix far from singular."""
    full = square(n, n).values
    return values(np.tril(full) if lower else np.triu(full))


def order(a: Args) -> int:
    """The size of the square matrix: about as many terms meet in one element."""
    matrix = a.A if a.given("A") else a.self
    return matrix.shape[-1]


def _matrix_size(a: Args) -> int:
    return a.self.shape[-1] * a.self.shape[-2]


def _numpy_solve(a: Args) -> str:
    if a.left:
        return "np.linalg.solve(A, B)" if len(a.B.shape) != 1 else "np.linalg.solve(A, B[:, None])[:, 0]"
    return "np.linalg.solve(A.swapaxes(-1, -2), B.swapaxes(-1, -2)).swapaxes(-1, -2)"


def _paddle_triangular(a: Args) -> str:
    if a.left:
        return "paddle.linalg.triangular_solve(self, B, upper=upper, unitriangular=unitriangular)"
    # X A = B is A' X' = B'; `transpose=True` solves with A'.
    call = "paddle.linalg.triangular_solve(self, B.mT, upper=upper, transpose=True, unitriangular=unitriangular)"
    return f"{call}.mT"


def _power_length(a: Args) -> int:
    return a.self.shape[-1] * max(1, abs(a.n))


def _flow_power(a: Args) -> str:
    if not 1 <= a.n <= 4:
        raise Unsupported(f"OneFlow has no matrix_power; it is composed for exponents 1 to 4, not {a.n}")
    return " @ ".join(["self"] * a.n)


def _paddle_pinv(a: Args) -> str:
    if a.given("atol"):
        raise Unsupported("paddle.linalg.pinv has no absolute tolerance; give rtol")
    rcond = "rtol" if a.given("rtol") else str(max(a.self.shape[-2:]) * EPSILON.get(a.self.dtype, EPSILON["float32"]))
    return f"paddle.linalg.pinv(self, rcond={rcond}, hermitian=hermitian)"


def _is_matrix_norm(a: Args) -> bool:
    """What ``torch.linalg.norm`` takes for a matrix norm: an order and two axes, named or there."""
    return a.given("ord") and (len(a.dim) == 2 if a.given("dim") else len(a.self.shape) == 2)


def _paddle_norm(a: Args) -> str:
    if a.given("dtype"):
        raise Unsupported("paddle.linalg.norm of a matrix has no dtype; cast the input in the model")
    if _is_matrix_norm(a) and not a.given("dim"):
        return "paddle.linalg.matrix_norm(self, p=ord, keepdim=keepdim)"
    return "paddle.linalg.norm(self, p=ord, axis=dim, keepdim=keepdim)"


def _flow_matrix_norm(a: Args) -> str:
    if a.ord == "nuc" or a.ord in (2, -2):
        raise Unsupported(f"flow.linalg.matrix_norm has no order {a.ord!r}, for OneFlow has no singular values")
    if a.given("dtype"):
        raise Unsupported("flow.linalg.matrix_norm takes its dtype by another rule; cast the input in the model")
    return "flow.linalg.matrix_norm(self, ord, dim=dim, keepdim=keepdim)"


def _flow_norm(a: Args) -> str:
    if _is_matrix_norm(a) and (a.ord == "nuc" or a.ord in (2, -2)):
        raise Unsupported(f"flow.linalg.norm has no order {a.ord!r}, for OneFlow has no singular values")
    if a.given("dtype"):
        raise Unsupported("flow.linalg.norm takes its dtype by another rule; cast the input in the model")
    return "flow.linalg.norm(self, ord=ord, dim=dim, keepdim=keepdim)"


def _numpy_norm(a: Args) -> str:
    axis = "" if not a.given("dim") else f", axis={tuple(a.dim) if len(a.dim) > 1 else a.dim[0]}"
    flat = "self" if a.given("ord") or a.given("dim") else "self.reshape(-1)"
    return f"np.linalg.norm({flat}, ord{axis}, keepdims=keepdim)"


OPS = (
    op(
        "linalg_inv(A)",
        kind="iterative",
        dims="A: *b n n",
        length=order,
        torch="torch.linalg.inv(A)",
        paddle="paddle.linalg.inv(A)",
        numpy="np.linalg.inv(A)",
        samples=[dict(A=square(3, 3)), dict(A=square(2, 4, 4))],
    ),
    op(
        "inverse(self)",
        kind="iterative",
        dims="self: *b n n",
        length=order,
        torch="torch.inverse(self)",
        paddle="paddle.inverse(self)",
        numpy="np.linalg.inv(self)",
        samples=[dict(self=square(3, 3)), dict(self=square(2, 4, 4))],
    ),
    op(
        "linalg_inv_ex(A, check_errors=False)",
        kind="iterative",
        dims="A: *b n n",
        length=order,
        torch="torch.linalg.inv_ex(A, check_errors=check_errors)",
        paddle="[paddle.linalg.inv(A), paddle.zeros(A.shape[:-2], dtype='int32')]",
        oneflow="[flow.linalg.inv(A), flow.zeros(A.shape[:-2], dtype=flow.int32)]",
        numpy="[np.linalg.inv(A), np.zeros(A.shape[:-2], dtype=np.int32)]",
        samples=[dict(A=square(3, 3), _outputs=2), dict(A=square(2, 4, 4), _outputs=2)],
        why="the inverse after decomposition; the second output is LAPACK's status, 0 where it worked",
    ),
    op(
        "linalg_det(A)",
        kind="iterative",
        dims="A: *b n n",
        length=order,
        torch="torch.linalg.det(A)",
        paddle="paddle.linalg.det(A)",
        oneflow=absent("OneFlow", "determinant"),
        numpy="np.linalg.det(A)",
        samples=[dict(A=square(3, 3)), dict(A=square(2, 4, 4))],
    ),
    op(
        "_linalg_det(A)",
        kind="iterative",
        dims="A: *b n n",
        length=order,
        torch="torch._linalg_det(A)",
        paddle="[paddle.linalg.det(A), *paddle.linalg.lu(A.mT)]",
        oneflow=absent("OneFlow", "determinant"),
        samples=[dict(A=square(3, 3), _outputs=3), dict(A=square(2, 4, 4), _outputs=3)],
        why="the determinant of a decomposed graph, with the factors that its backward pass reads",
    ),
    op(
        "det(self)",
        kind="iterative",
        dims="self: *b n n",
        length=order,
        torch="torch.det(self)",
        paddle="paddle.linalg.det(self)",
        oneflow=absent("OneFlow", "determinant"),
        numpy="np.linalg.det(self)",
        samples=[dict(self=square(3, 3)), dict(self=square(2, 4, 4))],
    ),
    op(
        "logdet(self)",
        kind="iterative",
        dims="self: *b n n",
        length=order,
        torch="torch.logdet(self)",
        paddle="paddle.linalg.det(self).log()",
        oneflow=absent("OneFlow", "determinant"),
        numpy="np.log(np.linalg.det(self))",
        samples=[dict(self=definite(3, 3)), dict(self=definite(2, 4, 4))],
        why="Paddle has no logdet",
    ),
    op(
        "linalg_slogdet(A)",
        kind="iterative",
        dims="A: *b n n",
        length=order,
        torch="torch.linalg.slogdet(A)",
        paddle="paddle.linalg.slogdet(A)",
        oneflow=absent("OneFlow", "slogdet"),
        numpy="np.linalg.slogdet(A)",
        samples=[dict(A=square(3, 3), _outputs=2), dict(A=square(2, 4, 4), _outputs=2)],
        why="Paddle returns one tensor of two entries, which unpacks alike",
    ),
    op(
        "_linalg_slogdet(A)",
        kind="iterative",
        dims="A: *b n n",
        length=order,
        torch="torch._linalg_slogdet(A)",
        paddle="[*paddle.linalg.slogdet(A), *paddle.linalg.lu(A.mT)]",
        oneflow=absent("OneFlow", "slogdet"),
        samples=[dict(A=square(3, 3), _outputs=4), dict(A=square(2, 4, 4), _outputs=4)],
    ),
    op(
        "_linalg_solve_ex(A, B, left=True, check_errors=False)",
        kind="iterative",
        dims="A: *b n n, B: *b n k",
        length=order,
        torch="torch._linalg_solve_ex(A, B, left=left, check_errors=check_errors)",
        paddle="[paddle.linalg.solve(A, B, left=left), *paddle.linalg.lu(A, get_infos=True)]",
        oneflow=absent("OneFlow", "linear solver"),
        samples=[
            dict(A=square(3, 3), B=normal(3, 2, seed=1), _outputs=4),
            dict(A=square(3, 3), B=normal(2, 3, seed=1), left=False, _outputs=4),
        ],
    ),
    op(
        "linalg_solve(A, B, left=True)",
        kind="iterative",
        dims="A: *b n n, B: *b n k",
        length=order,
        torch="torch.linalg.solve(A, B, left=left)",
        paddle="paddle.linalg.solve(A, B, left=left)",
        oneflow=absent("OneFlow", "linear solver"),
        numpy=_numpy_solve,
        samples=[
            dict(A=square(3, 3), B=normal(3, 2, seed=1)),
            dict(A=square(3, 3), B=normal(3, seed=1)),
            dict(A=square(2, 3, 3), B=normal(2, 2, 3, seed=1), left=False),
        ],
    ),
    op(
        "linalg_solve_triangular(self, B, upper, left=True, unitriangular=False)",
        kind="iterative",
        dims="self: *b n n, B: *b n k",
        length=order,
        torch="torch.linalg.solve_triangular(self, B, upper=upper, left=left, unitriangular=unitriangular)",
        paddle=_paddle_triangular,
        oneflow=absent("OneFlow", "triangular solver"),
        numpy=lambda a: _numpy_solve(a).replace("A", "self"),
        samples=[
            dict(self=triangular(3), B=normal(3, 2, seed=1), upper=False),
            dict(self=triangular(3, lower=False), B=normal(3, 2, seed=1), upper=True),
            dict(self=triangular(3), B=normal(2, 3, seed=1), upper=False, left=False),
        ],
    ),
    op(
        "linalg_norm(self, ord=None, dim=None, keepdim=False, dtype=None)",
        kind="reduction",
        length=_matrix_size,
        torch="torch.linalg.norm(self, ord=ord, dim=dim, keepdim=keepdim, dtype=dtype)",
        paddle=_paddle_norm,
        oneflow=_flow_norm,
        numpy=_numpy_norm,
        samples=[
            dict(self=normal(3, 4)),
            dict(self=normal(3, 4), ord="nuc"),
            dict(self=normal(3, 4), ord=1),
            dict(self=normal(2, 3, 4), ord="fro", dim=(1, 2), keepdim=True),
            dict(self=normal(2, 3, 4), ord=1.0, dim=(1,)),
        ],
        why="OneFlow has no nuclear norm and no spectral norm",
    ),
    op(
        "linalg_matrix_norm(self, ord='fro', dim=[-2, -1], keepdim=False, dtype=None)",
        kind="reduction",
        length=lambda a: a.self.shape[a.dim[0]] * a.self.shape[a.dim[1]],
        torch="torch.linalg.matrix_norm(self, ord, dim=dim, keepdim=keepdim, dtype=dtype)",
        paddle="paddle.linalg.matrix_norm(self, ord, axis=dim, keepdim=keepdim)",
        oneflow=_flow_matrix_norm,
        numpy=lambda a: f"np.linalg.norm(self, ord, axis={a.dim}, keepdims=keepdim)",
        samples=[
            dict(self=normal(3, 4)),
            dict(self=normal(2, 3, 4), ord=float("inf"), keepdim=True),
            dict(self=normal(2, 3, 4), ord=1, dim=(0, 2)),
            dict(self=normal(3, 4), ord=2),
        ],
        why="OneFlow has no nuclear norm and no spectral norm",
    ),
    op(
        "matrix_power(self, n)",
        kind="reduction",
        dims="self: *b n n",
        length=_power_length,
        torch="torch.linalg.matrix_power(self, n)",
        paddle="paddle.linalg.matrix_power(self, n)",
        oneflow=_flow_power,
        numpy="np.linalg.matrix_power(self, n)",
        samples=[dict(self=normal(3, 3), n=3), dict(self=square(2, 3, 3), n=2), dict(self=square(3, 3), n=-1)],
    ),
    op(
        "linalg_matrix_power(self, n)",
        kind="reduction",
        dims="self: *b n n",
        length=_power_length,
        torch="torch.linalg.matrix_power(self, n)",
        paddle="paddle.linalg.matrix_power(self, n)",
        oneflow=_flow_power,
        numpy="np.linalg.matrix_power(self, n)",
        samples=[dict(self=normal(3, 3), n=3), dict(self=square(2, 3, 3), n=2), dict(self=square(3, 3), n=-1)],
    ),
    op(
        "linalg_matrix_exp(self)",
        kind="iterative",
        dims="self: *b n n",
        length=order,
        torch="torch.linalg.matrix_exp(self)",
        paddle="paddle.linalg.matrix_exp(self)",
        oneflow=absent("OneFlow", "matrix exponential"),
        samples=[dict(self=normal(3, 3)), dict(self=normal(2, 3, 3))],
    ),
    op(
        "matrix_exp(self)",
        kind="iterative",
        dims="self: *b n n",
        length=order,
        torch="torch.matrix_exp(self)",
        paddle="paddle.linalg.matrix_exp(self)",
        oneflow=absent("OneFlow", "matrix exponential"),
        samples=[dict(self=normal(3, 3)), dict(self=normal(2, 3, 3))],
    ),
    op(
        "pinverse(self, rcond=1e-15)",
        kind="iterative",
        length=order,
        torch="torch.pinverse(self, rcond=rcond)",
        paddle="paddle.linalg.pinv(self, rcond=rcond)",
        oneflow=absent("OneFlow", "pseudo-inverse"),
        numpy="np.linalg.pinv(self, rcond)",
        samples=[dict(self=normal(4, 3)), dict(self=normal(3, 4), rcond=1e-6)],
    ),
    op(
        "linalg_pinv(self, atol=None, rtol=None, hermitian=False)",
        kind="iterative",
        length=order,
        torch="torch.linalg.pinv(self, atol=atol, rtol=rtol, hermitian=hermitian)",
        paddle=_paddle_pinv,
        oneflow=absent("OneFlow", "pseudo-inverse"),
        numpy="np.linalg.pinv(self, hermitian=hermitian)",
        samples=[dict(self=normal(4, 3)), dict(self=symmetric(3, 3), rtol=1e-6, hermitian=True)],
    ),
    op(
        "linalg_matrix_rank(self, atol=None, rtol=None, hermitian=False)",
        kind="index",
        torch="torch.linalg.matrix_rank(self, atol=atol, rtol=rtol, hermitian=hermitian)",
        paddle="paddle.linalg.matrix_rank(self, atol=atol, rtol=rtol, hermitian=hermitian)",
        oneflow=absent("OneFlow", "singular value decomposition"),
        numpy="np.linalg.matrix_rank(self, hermitian=hermitian)",
        samples=[dict(self=normal(4, 3)), dict(self=symmetric(3, 3), hermitian=True)],
    ),
)
