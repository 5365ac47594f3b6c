"""Conversions of the number type, copies, and the steps that only concern the tape.

`device` and `memory_format` are gone after the capture: everything is compared on one device, and the layout is part
of the value.
"""

from __future__ import annotations

from minrepro.ir.dtype import dtype
from minrepro.ops.row import Args, Op, op
from minrepro.ops.sample import boolean, integers, normal, transposed, values

FLOATS = values([-1.5, -0.5, 0.0, 0.5, 2.75])


def _torch_to(a: Args) -> str:
    arguments = (["dtype"] if a.given("dtype") else []) + (["copy=True"] if a.copy else [])
    return f"self.to({', '.join(arguments)})" if arguments else "self"


def _paddle_to(a: Args) -> str:
    same = not a.given("dtype") or a.dtype.name == a.self.dtype
    return ("self.clone()" if a.copy else "self") if same else "self.astype(dtype)"


def _flow_to(a: Args) -> str:
    same = not a.given("dtype") or a.dtype.name == a.self.dtype
    return ("self.clone()" if a.copy else "self") if same else "self.to(dtype)"


def _numpy_to(a: Args) -> str:
    return "self.astype(dtype)" if a.given("dtype") else "self.copy()"


def _same(name: str, method: str = "", numpy: str = "self") -> Op:
    """A step that does not change the value."""
    text = f"self.{method}()" if method else "self"
    return op(
        f"{name}(self)", kind="exact", torch=text, paddle=text, numpy=numpy,
        samples=[dict(self=normal(2, 3)), dict(self=transposed(normal(2, 3))), dict(self=integers(3))],
    )


CASTS = [
    dict(self=FLOATS, dtype=dtype("int64")),
    dict(self=FLOATS, dtype=dtype("float64")),
    dict(self=FLOATS, dtype=dtype("float16")),
    dict(self=FLOATS, dtype=dtype("bool")),
    dict(self=integers(2, 3), dtype=dtype("float32")),
    dict(self=boolean(2, 3), dtype=dtype("int32")),
]

OPS = (
    op(
        "to(self, dtype=None, non_blocking=False, copy=False)",
        kind="exact",
        torch=_torch_to, paddle=_paddle_to, oneflow=_flow_to, numpy=_numpy_to,
        samples=[*CASTS, dict(self=FLOATS), dict(self=FLOATS, dtype=dtype("float32"), copy=True)],
    ),
    op(
        "to.other(self, other, non_blocking=False, copy=False)",
        kind="exact",
        torch="self.to(other.dtype)", paddle="self.astype(other.dtype)", numpy="self.astype(other.dtype)",
        samples=[dict(self=FLOATS, other=integers(2)), dict(self=boolean(3), other=normal(1))],
    ),
    op(
        "_to_copy(self, dtype=None, non_blocking=False)",
        kind="exact",
        torch=lambda a: "self.to(dtype, copy=True)" if a.given("dtype") else "self.clone()",
        paddle=lambda a: "self.astype(dtype)" if a.given("dtype") else "self.clone()",
        oneflow=lambda a: "self.to(dtype)" if a.given("dtype") else "self.clone()",
        numpy=_numpy_to,
        samples=[*CASTS[:3], dict(self=FLOATS)],
    ),
    op(
        "type_as(self, other)",
        kind="exact",
        torch="self.type_as(other)", paddle="self.astype(other.dtype)", numpy="self.astype(other.dtype)",
        samples=[dict(self=FLOATS, other=integers(2)), dict(self=integers(3), other=normal(2))],
    ),
    _same("clone", "clone", "self.copy()"),
    _same("contiguous", "contiguous", "np.ascontiguousarray(self)"),
    _same("detach", "detach"),
    _same("detach_", "detach"),
    _same("lift_fresh_copy", "clone", "self.copy()"),
    _same("lift_fresh"),
    _same("alias"),
    _same("positive"),
)
