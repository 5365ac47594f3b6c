"""Products of matrices and vectors.

Paddle keeps the weight of a linear layer as (in, out), so a ported model passes the transpose. OneFlow 0.9 lacks some
of the products; those are composed from the ones it has.
"""

from __future__ import annotations

import math

from minrepro.errors import Unsupported
from minrepro.ops.row import Args, op
from minrepro.ops.sample import integers, normal, transposed


def _sum(a: Args, product: str) -> str:
    """``beta * self + alpha * product``, factors of one left away."""
    first = "self" if a.beta == 1 else "beta * self"
    return f"{first} + {product}" if a.alpha == 1 else f"{first} + alpha * {product}"


def _operands(a: Args) -> str:
    return ", ".join(f"tensors[{i}]" for i in range(len(a.tensors)))


def _summed(a: Args) -> int:
    """Number of terms per output element of an einsum: the product of the sizes of the summed letters."""
    inputs, _, output = a.equation.replace(" ", "").partition("->")
    size = {}
    for letters, spec in zip(inputs.split(","), a.tensors):
        head, _, tail = letters.partition("...")
        size.update(zip(head, spec.shape))
        size.update(zip(reversed(tail), reversed(spec.shape)))
    if "->" not in a.equation:
        output = "".join(letter for letter in size if inputs.count(letter) == 1)
    return math.prod(extent for letter, extent in size.items() if letter not in output)


def _inner_length(a: Args) -> int:
    return a.self.shape[-1] if a.self.shape else 1


def _flow_kron(a: Args) -> str:
    if len(a.self.shape) == len(a.other.shape) == 1:
        return "(self.unsqueeze(1) * other).flatten()"
    if len(a.self.shape) == len(a.other.shape) == 2:
        rows, columns = (x * y for x, y in zip(a.self.shape, a.other.shape))
        return f"flow.einsum('ij,kl->ikjl', self, other).reshape({rows}, {columns})"
    raise Unsupported("OneFlow has no kron; it can be composed for two vectors or two matrices only")


def _numpy_cross(a: Args) -> str:
    axis = a.dim if a.given("dim") else a.self.shape.index(3)
    return f"np.cross(self, other, axis={axis})"


def _contracted(a: Args) -> int:
    return math.prod(a.self.shape[axis] for axis in a.dims_self)


OPS = (
    op(
        "linear(input, weight, bias=None)",
        kind="reduction",
        dims="input: *b i, weight: o i, bias: o",
        length=lambda a: a.input.shape[-1],
        torch="F.linear(input, weight, bias)",
        paddle="F.linear(input, weight.t(), bias)",
        numpy=lambda a: "input @ weight.T + bias" if a.given("bias") else "input @ weight.T",
        samples=[
            dict(input=normal(3, 5), weight=normal(4, 5, seed=1), bias=normal(4, seed=2)),
            dict(input=normal(2, 3, 5), weight=normal(4, 5, seed=1)),
            dict(input=normal(3, 5), weight=transposed(normal(5, 4, seed=1)), bias=normal(4, seed=2)),
        ],
        why="Paddle stores the weight as (in, out)",
    ),
    op(
        "bilinear(input1, input2, weight, bias=None)",
        kind="reduction",
        dims="input1: *b i, input2: *b j, weight: o i j, bias: o",
        length=lambda a: a.input1.shape[-1] * a.input2.shape[-1],
        torch="F.bilinear(input1, input2, weight, bias)",
        paddle=lambda a: (
            "F.bilinear(input1, input2, weight, bias.unsqueeze(0))"
            if a.given("bias")
            else "F.bilinear(input1, input2, weight)"
        ),
        oneflow=lambda a: (
            "flow.einsum('bi,oij,bj->bo', input1, weight, input2)" + (" + bias" if a.given("bias") else "")
        ),
        numpy=lambda a: (
            "np.einsum('...i,oij,...j->...o', input1, weight, input2)" + (" + bias" if a.given("bias") else "")
        ),
        samples=[
            dict(input1=normal(3, 4), input2=normal(3, 5, seed=1), weight=normal(2, 4, 5, seed=2)),
            dict(
                input1=normal(3, 4), input2=normal(3, 5, seed=1), weight=normal(2, 4, 5, seed=2), bias=normal(2, seed=3)
            ),
        ],
        why="Paddle keeps the bias as (1, out)",
    ),
    op(
        "addmm(self, mat1, mat2, beta=1, alpha=1)",
        kind="reduction",
        dims="self: *m n, mat1: m k, mat2: k n",
        length=lambda a: a.mat1.shape[-1] + 1,
        torch="torch.addmm(self, mat1, mat2, beta=beta, alpha=alpha)",
        paddle="paddle.addmm(self, mat1, mat2, beta=beta, alpha=alpha)",
        numpy=lambda a: _sum(a, "(mat1 @ mat2)"),
        samples=[
            dict(self=normal(4), mat1=normal(3, 5, seed=1), mat2=normal(5, 4, seed=2)),
            dict(self=normal(3, 4), mat1=normal(3, 5, seed=1), mat2=normal(5, 4, seed=2), beta=2, alpha=0.5),
            dict(self=normal(4), mat1=normal(3, 5, seed=1), mat2=transposed(normal(4, 5, seed=2))),
        ],
        why="a linear layer after decomposition",
    ),
    op(
        "mm(self, mat2)",
        kind="reduction",
        dims="self: m k, mat2: k n",
        length=lambda a: a.self.shape[-1],
        torch="torch.mm(self, mat2)",
        paddle="paddle.mm(self, mat2)",
        numpy="self @ mat2",
        samples=[
            dict(self=normal(3, 5), mat2=normal(5, 4, seed=1)),
            dict(self=normal(3, 5), mat2=transposed(normal(4, 5, seed=1))),
        ],
    ),
    op(
        "bmm(self, mat2)",
        kind="reduction",
        dims="self: b m k, mat2: b k n",
        length=lambda a: a.self.shape[-1],
        torch="torch.bmm(self, mat2)",
        paddle="paddle.bmm(self, mat2)",
        numpy="self @ mat2",
        samples=[
            dict(self=normal(2, 3, 5), mat2=normal(2, 5, 4, seed=1)),
            dict(self=normal(2, 3, 5), mat2=transposed(normal(2, 4, 5, seed=1), 0, 2, 1)),
        ],
    ),
    op(
        "baddbmm(self, batch1, batch2, beta=1, alpha=1)",
        kind="reduction",
        dims="self: b m n, batch1: b m k, batch2: b k n",
        length=lambda a: a.batch1.shape[-1] + 1,
        torch="torch.baddbmm(self, batch1, batch2, beta=beta, alpha=alpha)",
        paddle="paddle.baddbmm(self, batch1, batch2, beta=beta, alpha=alpha)",
        numpy=lambda a: _sum(a, "(batch1 @ batch2)"),
        samples=[
            dict(self=normal(2, 3, 4), batch1=normal(2, 3, 5, seed=1), batch2=normal(2, 5, 4, seed=2)),
            dict(
                self=normal(2, 3, 4), batch1=normal(2, 3, 5, seed=1), batch2=normal(2, 5, 4, seed=2), beta=2, alpha=0.5
            ),
        ],
    ),
    op(
        "addbmm(self, batch1, batch2, beta=1, alpha=1)",
        kind="reduction",
        dims="self: m n, batch1: b m k, batch2: b k n",
        length=lambda a: a.batch1.shape[0] * a.batch1.shape[-1] + 1,
        torch="torch.addbmm(self, batch1, batch2, beta=beta, alpha=alpha)",
        paddle=lambda a: _sum(a, "paddle.bmm(batch1, batch2).sum(0)"),
        oneflow=lambda a: _sum(a, "flow.bmm(batch1, batch2).sum(0)"),
        numpy=lambda a: _sum(a, "(batch1 @ batch2).sum(0)"),
        samples=[
            dict(self=normal(3, 4), batch1=normal(2, 3, 5, seed=1), batch2=normal(2, 5, 4, seed=2)),
            dict(self=normal(3, 4), batch1=normal(2, 3, 5, seed=1), batch2=normal(2, 5, 4, seed=2), beta=2, alpha=0.5),
        ],
        why="neither Paddle nor OneFlow has it",
    ),
    op(
        "mv(self, vec)",
        kind="reduction",
        dims="self: m k, vec: k",
        length=_inner_length,
        torch="torch.mv(self, vec)",
        paddle="paddle.mv(self, vec)",
        numpy="self @ vec",
        samples=[
            dict(self=normal(3, 5), vec=normal(5, seed=1)),
            dict(self=transposed(normal(5, 3)), vec=normal(5, seed=1)),
        ],
    ),
    op(
        "addmv(self, mat, vec, beta=1, alpha=1)",
        kind="reduction",
        dims="self: m, mat: m k, vec: k",
        length=lambda a: a.mat.shape[-1] + 1,
        torch="torch.addmv(self, mat, vec, beta=beta, alpha=alpha)",
        paddle=lambda a: _sum(a, "paddle.mv(mat, vec)"),
        oneflow=lambda a: _sum(a, "flow.mv(mat, vec)"),
        numpy=lambda a: _sum(a, "(mat @ vec)"),
        samples=[
            dict(self=normal(3), mat=normal(3, 5, seed=1), vec=normal(5, seed=2)),
            dict(self=normal(3), mat=normal(3, 5, seed=1), vec=normal(5, seed=2), beta=2, alpha=0.5),
        ],
        why="neither Paddle nor OneFlow has it",
    ),
    op(
        "dot(self, tensor)",
        kind="reduction",
        dims="self: k, tensor: k",
        length=_inner_length,
        torch="torch.dot(self, tensor)",
        paddle="paddle.dot(self, tensor)",
        numpy="self @ tensor",
        samples=[dict(self=normal(5), tensor=normal(5, seed=1)), dict(self=normal(1), tensor=normal(1, seed=1))],
    ),
    op(
        "vdot(self, other)",
        kind="reduction",
        dims="self: k, other: k",
        length=_inner_length,
        torch="torch.vdot(self, other)",
        paddle=lambda a: f"paddle.dot({'self.conj()' if a.self.dtype.startswith('complex') else 'self'}, other)",
        oneflow="flow.dot(self, other)",
        numpy="np.vdot(self, other)",
        samples=[dict(self=normal(5), other=normal(5, seed=1)), dict(self=normal(4), other=normal(4, seed=1))],
        why="neither Paddle nor OneFlow has it; OneFlow 0.9 has no complex numbers",
    ),
    op(
        "outer(self, vec2)",
        kind="rounded",
        torch="torch.outer(self, vec2)",
        paddle="paddle.outer(self, vec2)",
        oneflow="self.unsqueeze(1) * vec2",
        numpy="np.outer(self, vec2)",
        samples=[dict(self=normal(3), vec2=normal(4, seed=1)), dict(self=normal(1), vec2=normal(4, seed=1))],
    ),
    op(
        "ger(self, vec2)",
        kind="rounded",
        torch="torch.ger(self, vec2)",
        paddle="paddle.ger(self, vec2)",
        oneflow="self.unsqueeze(1) * vec2",
        numpy="np.outer(self, vec2)",
        samples=[dict(self=normal(3), vec2=normal(4, seed=1)), dict(self=normal(1), vec2=normal(4, seed=1))],
    ),
    op(
        "addr(self, vec1, vec2, beta=1, alpha=1)",
        kind="reduction",
        dims="self: m n, vec1: m, vec2: n",
        length=lambda a: 2,
        torch="torch.addr(self, vec1, vec2, beta=beta, alpha=alpha)",
        paddle=lambda a: _sum(a, "paddle.outer(vec1, vec2)"),
        oneflow=lambda a: _sum(a, "vec1.unsqueeze(1) * vec2"),
        numpy=lambda a: _sum(a, "np.outer(vec1, vec2)"),
        samples=[
            dict(self=normal(3, 4), vec1=normal(3, seed=1), vec2=normal(4, seed=2)),
            dict(self=normal(3, 4), vec1=normal(3, seed=1), vec2=normal(4, seed=2), beta=2, alpha=0.5),
        ],
        why="neither Paddle nor OneFlow has it",
    ),
    op(
        "inner(self, other)",
        kind="reduction",
        dims="self: *m k, other: *n k",
        length=_inner_length,
        torch="torch.inner(self, other)",
        paddle="paddle.inner(self, other)",
        oneflow="flow.tensordot(self, other, dims=[[-1], [-1]])",
        numpy="np.inner(self, other)",
        samples=[dict(self=normal(5), other=normal(5, seed=1)), dict(self=normal(2, 3, 5), other=normal(4, 5, seed=1))],
    ),
    op(
        "matmul(self, other)",
        kind="reduction",
        dims="self: *b m k, other: *b k n",
        length=_inner_length,
        torch="torch.matmul(self, other)",
        paddle="paddle.matmul(self, other)",
        numpy="self @ other",
        samples=[
            dict(self=normal(3, 5), other=normal(5, 4, seed=1)),
            dict(self=normal(2, 3, 5), other=normal(5, 4, seed=1)),
            dict(self=normal(2, 1, 3, 5), other=normal(4, 5, 4, seed=1)),
            dict(self=normal(3, 5), other=normal(5, seed=1)),
            dict(self=normal(5), other=normal(5, 4, seed=1)),
            dict(self=normal(5), other=normal(5, seed=1)),
            dict(self=normal(2, 3, 5), other=normal(5, seed=1)),
        ],
        why="OneFlow 0.9 refuses two vectors and aborts the process on three axes times a vector",
    ),
    op(
        "einsum(equation, tensors, path=None)",
        kind="reduction",
        length=_summed,
        torch=lambda a: f"torch.einsum(equation, {_operands(a)})",
        paddle=lambda a: f"paddle.einsum(equation, {_operands(a)})",
        numpy=lambda a: f"np.einsum(equation, {_operands(a)})",
        samples=[
            dict(equation="ij,jk->ik", tensors=(normal(3, 5), normal(5, 4, seed=1))),
            dict(equation="bhid,bhjd->bhij", tensors=(normal(2, 2, 3, 5), normal(2, 2, 4, 5, seed=1))),
            dict(equation="...i,oi", tensors=(normal(2, 3, 5), normal(4, 5, seed=1))),
            dict(equation="ii->i", tensors=(normal(3, 3),)),
            dict(equation="iij,j->i", tensors=(normal(2, 2, 3), normal(3, seed=1))),
        ],
        why="Paddle refuses an operand with a repeated letter next to a summed one",
    ),
    op(
        "tensordot(self, other, dims_self, dims_other)",
        kind="reduction",
        length=_contracted,
        torch="torch.tensordot(self, other, dims=[dims_self, dims_other])",
        paddle="paddle.tensordot(self, other, axes=[dims_self, dims_other])",
        numpy="np.tensordot(self, other, axes=[dims_self, dims_other])",
        samples=[
            dict(self=normal(2, 3, 5), other=normal(3, 5, 4, seed=1), dims_self=(1, 2), dims_other=(0, 1)),
            dict(self=normal(2, 3), other=normal(4, 3, seed=1), dims_self=(1,), dims_other=(1,)),
        ],
    ),
    op(
        "linalg_multi_dot(tensors)",
        kind="reduction",
        length=lambda a: max(spec.shape[-1] for spec in a.tensors[:-1]),
        torch="torch.linalg.multi_dot(tensors)",
        paddle="paddle.linalg.multi_dot(tensors)",
        oneflow=lambda a: " @ ".join(f"tensors[{i}]" for i in range(len(a.tensors))),
        numpy="np.linalg.multi_dot(tensors)",
        samples=[
            dict(tensors=(normal(2, 5), normal(5, 3, seed=1), normal(3, 4, seed=2))),
            dict(tensors=(normal(5), normal(5, 3, seed=1))),
        ],
    ),
    op(
        "linalg_vecdot(x, y, dim=-1)",
        kind="reduction",
        dims="broadcast",
        length=lambda a: a.x.shape[a.dim],
        torch="torch.linalg.vecdot(x, y, dim=dim)",
        paddle="paddle.linalg.vecdot(x, y, axis=dim)",
        oneflow="(x * y).sum(dim)",
        numpy="(np.conj(x) * y).sum(dim)",
        samples=[dict(x=normal(3, 5), y=normal(3, 5, seed=1)), dict(x=normal(3, 5), y=normal(3, 5, seed=1), dim=0)],
    ),
    op(
        "kron(self, other)",
        kind="rounded",
        torch="torch.kron(self, other)",
        paddle="paddle.kron(self, other)",
        oneflow=_flow_kron,
        numpy="np.kron(self, other)",
        samples=[dict(self=normal(2, 3), other=normal(3, 2, seed=1)), dict(self=normal(2), other=normal(3, seed=1))],
    ),
    op(
        "cross(self, other, dim=None)",
        kind="reduction",
        dims="broadcast",
        length=lambda a: 2,
        torch="torch.cross(self, other, dim=dim)",
        paddle="paddle.cross(self, other, axis=dim)",
        numpy=_numpy_cross,
        samples=[
            dict(self=normal(4, 3), other=normal(4, 3, seed=1), dim=1),
            dict(self=normal(3, 4), other=normal(3, 4, seed=1)),
        ],
        why="without an axis it is the first one of size 3",
    ),
    op(
        "linalg_cross(self, other, dim=-1)",
        kind="reduction",
        dims="broadcast",
        length=lambda a: 2,
        torch="torch.linalg.cross(self, other, dim=dim)",
        paddle="paddle.linalg.cross(self, other, axis=dim)",
        numpy="np.cross(self, other, axis=dim)",
        samples=[
            dict(self=normal(4, 3), other=normal(4, 3, seed=1)),
            dict(self=normal(3, 4), other=normal(3, 4, seed=1), dim=0),
        ],
    ),
    op(
        "trace(self)",
        kind="reduction",
        length=lambda a: min(a.self.shape),
        torch="torch.trace(self)",
        paddle="paddle.trace(self)",
        oneflow="self.diagonal().sum()",
        numpy="np.trace(self)",
        samples=[dict(self=normal(3, 3)), dict(self=normal(3, 5)), dict(self=integers(3, 3))],
    ),
)
