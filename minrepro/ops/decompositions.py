"""Decompositions of a matrix: Cholesky, QR, singular values, eigenvalues.

Factors are unique up to signs or phases, which is why their kind is ``iterative``: the verdict compares what the
factors mean and not the factors. OneFlow 0.9 has none of them.
"""

from __future__ import annotations

from minrepro.ops.absent import absent
from minrepro.ops.linalg import definite, order, symmetric, triangular
from minrepro.ops.row import op
from minrepro.ops.sample import normal

OPS = (
    op(
        "linalg_cholesky(self, upper=False)",
        kind="iterative",
        dims="self: *b n n",
        length=order,
        torch="torch.linalg.cholesky(self, upper=upper)",
        paddle="paddle.linalg.cholesky(self, upper=upper)",
        oneflow=absent("OneFlow", "Cholesky decomposition"),
        numpy=lambda a: "np.linalg.cholesky(self)" + (".swapaxes(-1, -2)" if a.upper else ""),
        samples=[dict(self=definite(3, 3)), dict(self=definite(2, 3, 3), upper=True)],
    ),
    op(
        "linalg_cholesky_ex(self, upper=False, check_errors=False)",
        kind="iterative",
        dims="self: *b n n",
        length=order,
        torch="torch.linalg.cholesky_ex(self, upper=upper, check_errors=check_errors)",
        paddle="[paddle.linalg.cholesky(self, upper=upper), paddle.zeros(self.shape[:-2], dtype='int32')]",
        oneflow=absent("OneFlow", "Cholesky decomposition"),
        samples=[dict(self=definite(3, 3), _outputs=2), dict(self=definite(2, 3, 3), upper=True, _outputs=2)],
    ),
    op(
        "cholesky(self, upper=False)",
        kind="iterative",
        dims="self: *b n n",
        length=order,
        torch="torch.cholesky(self, upper=upper)",
        paddle="paddle.cholesky(self, upper=upper)",
        oneflow=absent("OneFlow", "Cholesky decomposition"),
        numpy=lambda a: "np.linalg.cholesky(self)" + (".swapaxes(-1, -2)" if a.upper else ""),
        samples=[dict(self=definite(3, 3)), dict(self=definite(2, 3, 3), upper=True)],
    ),
    op(
        "cholesky_solve(self, input2, upper=False)",
        kind="iterative",
        dims="self: *b n k, input2: *b n n",
        length=lambda a: a.input2.shape[-1],
        torch="torch.cholesky_solve(self, input2, upper=upper)",
        paddle="paddle.linalg.cholesky_solve(self, input2, upper=upper)",
        oneflow=absent("OneFlow", "Cholesky decomposition"),
        numpy=lambda a: f"np.linalg.solve({'input2.T @ input2' if a.upper else 'input2 @ input2.T'}, self)",
        samples=[
            dict(self=normal(3, 2), input2=triangular(3)),
            dict(self=normal(3, 2), input2=triangular(3, lower=False), upper=True),
        ],
    ),
    op(
        "linalg_qr(A, mode='reduced')",
        kind="iterative",
        length=order,
        torch="torch.linalg.qr(A, mode=mode)",
        paddle="paddle.linalg.qr(A, mode=mode)",
        oneflow=absent("OneFlow", "QR decomposition"),
        numpy="np.linalg.qr(A, mode=mode)",
        samples=[dict(A=normal(4, 3), _outputs=2), dict(A=normal(4, 3), mode="complete", _outputs=2)],
    ),
    op(
        "linalg_svd(A, full_matrices=True, driver=None)",
        kind="iterative",
        length=order,
        torch="torch.linalg.svd(A, full_matrices=full_matrices, driver=driver)",
        paddle="paddle.linalg.svd(A, full_matrices=full_matrices)",
        oneflow=absent("OneFlow", "singular value decomposition"),
        numpy="np.linalg.svd(A, full_matrices=full_matrices)",
        samples=[dict(A=normal(4, 3), _outputs=3), dict(A=normal(4, 3), full_matrices=False, _outputs=3)],
        why="singular vectors are unique up to their sign",
    ),
    op(
        "_linalg_svd(A, full_matrices=False, compute_uv=True, driver=None)",
        kind="iterative",
        length=order,
        torch="torch._linalg_svd(A, full_matrices=full_matrices, compute_uv=compute_uv, driver=driver)",
        paddle=lambda a: (
            "paddle.linalg.svd(A, full_matrices=full_matrices)"
            if a.compute_uv
            else "[paddle.zeros([0], A.dtype), paddle.linalg.svdvals(A), paddle.zeros([0], A.dtype)]"
        ),
        oneflow=absent("OneFlow", "singular value decomposition"),
        samples=[dict(A=normal(4, 3), _outputs=3), dict(A=normal(4, 3), compute_uv=False, _outputs=3)],
        why="the singular value decomposition after decomposition of the graph",
    ),
    op(
        "linalg_svdvals(A, driver=None)",
        kind="iterative",
        length=order,
        torch="torch.linalg.svdvals(A, driver=driver)",
        paddle="paddle.linalg.svdvals(A)",
        oneflow=absent("OneFlow", "singular value decomposition"),
        numpy="np.linalg.svd(A, compute_uv=False)",
        samples=[dict(A=normal(4, 3)), dict(A=normal(2, 3, 4))],
    ),
    op(
        "linalg_eigh(self, UPLO='L')",
        kind="iterative",
        dims="self: *b n n",
        length=order,
        torch="torch.linalg.eigh(self, UPLO=UPLO)",
        paddle="paddle.linalg.eigh(self, UPLO=UPLO)",
        oneflow=absent("OneFlow", "eigenvalue decomposition"),
        numpy="np.linalg.eigh(self, UPLO=UPLO)",
        samples=[dict(self=symmetric(3, 3), _outputs=2), dict(self=symmetric(2, 3, 3), UPLO="U", _outputs=2)],
        why="eigenvectors are unique up to their sign",
    ),
    op(
        "_linalg_eigh(A, UPLO='L', compute_v=True)",
        kind="iterative",
        dims="A: *b n n",
        length=order,
        torch="torch._linalg_eigh(A, UPLO=UPLO, compute_v=compute_v)",
        paddle=lambda a: (
            "paddle.linalg.eigh(A, UPLO=UPLO)"
            if a.compute_v
            else "[paddle.linalg.eigvalsh(A, UPLO=UPLO), paddle.zeros([0], A.dtype)]"
        ),
        oneflow=absent("OneFlow", "eigenvalue decomposition"),
        samples=[dict(A=symmetric(3, 3), _outputs=2), dict(A=symmetric(2, 3, 3), compute_v=False, _outputs=2)],
    ),
    op(
        "linalg_eigvalsh(self, UPLO='L')",
        kind="iterative",
        dims="self: *b n n",
        length=order,
        torch="torch.linalg.eigvalsh(self, UPLO=UPLO)",
        paddle="paddle.linalg.eigvalsh(self, UPLO=UPLO)",
        oneflow=absent("OneFlow", "eigenvalue decomposition"),
        numpy="np.linalg.eigvalsh(self, UPLO=UPLO)",
        samples=[dict(self=symmetric(3, 3)), dict(self=symmetric(2, 3, 3), UPLO="U")],
    ),
    op(
        "linalg_eig(self)",
        kind="iterative",
        dims="self: *b n n",
        length=order,
        torch="torch.linalg.eig(self)",
        paddle="paddle.linalg.eig(self)",
        oneflow=absent("OneFlow", "eigenvalue decomposition"),
        numpy="np.linalg.eig(self)",
        samples=[dict(self=symmetric(3, 3), _outputs=2), dict(self=normal(3, 3), _outputs=2)],
        why="eigenvectors are unique up to a phase; Paddle ends the process where the matrix has a nan",
    ),
    op(
        "linalg_eigvals(self)",
        kind="iterative",
        dims="self: *b n n",
        length=order,
        torch="torch.linalg.eigvals(self)",
        paddle="paddle.linalg.eigvals(self)",
        oneflow=absent("OneFlow", "eigenvalue decomposition"),
        numpy="np.linalg.eigvals(self).astype(np.complex128)",
        samples=[dict(self=symmetric(3, 3)), dict(self=normal(3, 3))],
    ),
)
