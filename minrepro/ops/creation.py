"""Tensors made from numbers and shapes.

Without a dtype PyTorch takes float32, or for `full` and `arange` what the numbers say; where a framework decides
otherwise the spelling names the type.
"""

from __future__ import annotations

from minrepro.ir.dtype import dtype
from minrepro.ops.absent import absent
from minrepro.ops.row import Args, Op, Spelling, op
from minrepro.ops.sample import boolean, integers, normal

WHOLE = dtype("int64")
TYPES = {bool: "bool", int: "int64", float: "float32", complex: "complex64"}


def _sized(name: str, kind: str = "exact", why: str = "") -> Op:
    call = f"{name}(size, dtype=dtype)"
    return op(
        f"{name}(size, dtype=None)", kind=kind, torch=f"torch.{call}", paddle=f"paddle.{call}",
        numpy=f"np.{call}", why=why,
        samples=[dict(size=(2, 3)), dict(size=(4,), dtype=WHOLE), dict(size=(), dtype=dtype("float64"))],
    )


def _like(name: str, kind: str = "exact", why: str = "") -> Op:
    call = f"{name}(self, dtype=dtype)"
    return op(
        f"{name}(self, dtype=None)", kind=kind, torch=f"torch.{call}", paddle=f"paddle.{call}",
        numpy=f"np.{call}", why=why,
        samples=[dict(self=normal(2, 3)), dict(self=integers(4)), dict(self=normal(2, 3), dtype=WHOLE)],
    )


def _new(name: str, kind: str = "exact", why: str = "") -> Op:
    """``self.new_zeros(size)``; Paddle's own form is newer than the versions we support."""
    return op(
        f"new_{name}(self, size, dtype=None)", kind=kind,
        torch=f"self.new_{name}(size, dtype=dtype)", why=why,
        paddle=_typed(f"paddle.{name}(size, dtype=%s)"), numpy=_typed(f"np.{name}(size, dtype=%s)"),
        samples=[dict(self=normal(2, 3), size=(4,)), dict(self=integers(2), size=(1, 2)),
                 dict(self=normal(2), size=(2, 2), dtype=WHOLE)],
    )


def _typed(text: str) -> Spelling:
    """The text with the dtype that was asked for, or else that of `self`."""
    return lambda a: text % ("dtype" if a.given("dtype") else "self.dtype")


def _paddle_full(a: Args) -> str:
    """Paddle makes float32 of an integer."""
    implied = "dtype" if a.given("dtype") else repr(TYPES[type(a.fill_value)])
    return f"paddle.full(size, fill_value, dtype={implied})"


def _flow_full(a: Args) -> str:
    """OneFlow's `full` refuses the empty shape."""
    return "flow.full(size, fill_value, dtype=dtype)" if a.size else "flow.tensor(fill_value, dtype=dtype)"


def _range(call: str) -> Spelling:
    """A range, with start and step left away where they are the usual ones."""

    def spell(a: Args) -> str:
        numbers = ["start, end, step"] if a.step != 1 else ["start, end"] if a.start != 0 else ["end"]
        return f"{call}({', '.join(numbers)}, dtype=dtype)"

    return spell


def _spaced(name: str, settings: list[dict], kind: str, extra: str = "") -> Op:
    arguments = f"start, end, steps{extra}, dtype=dtype"
    default = ", base=10.0" if extra else ""
    return op(
        f"{name}(start, end, steps{default}, dtype=None)", kind=kind, samples=settings,
        torch=f"torch.{name}({arguments})", paddle=f"paddle.{name}({arguments})", numpy=f"np.{name}({arguments})",
    )


def _part(name: str) -> Op:
    call = f"{name}(self, diagonal)"
    return op(
        f"{name}(self, diagonal=0)", kind="exact",
        torch=f"torch.{name}(self, diagonal=diagonal)", paddle=f"paddle.{name}(self, diagonal=diagonal)",
        numpy=f"np.{call}",
        samples=[
            dict(self=normal(3, 4)), dict(self=normal(2, 3, 3, of="float64"), diagonal=1),
            dict(self=integers(3, 3), diagonal=-1), dict(self=boolean(3, 3)),
        ],
    )


def _indices(name: str) -> Op:
    return op(
        f"{name}(row, col, offset=0, dtype=None)", kind="exact",
        torch=f"torch.{name}(row, col, offset=offset)", paddle=f"paddle.{name}(row, col, offset)",
        oneflow=f"flow.nonzero(flow.{name[:4]}(flow.ones(row, col), offset)).t()",
        numpy=f"np.stack(np.{name}(row, offset, col))",
        samples=[dict(row=3, col=3), dict(row=3, col=4, offset=1)],
    )


MEMORY = "what the memory held before: only shape and type are compared"

OPS = (
    _sized("zeros"),
    _sized("ones"),
    _sized("empty", "random", why=MEMORY),
    op(
        "full(size, fill_value, dtype=None)",
        kind="exact",
        torch="torch.full(size, fill_value, dtype=dtype)", paddle=_paddle_full, oneflow=_flow_full,
        numpy="np.full(size, fill_value, dtype=dtype)",
        samples=[
            dict(size=(2, 3), fill_value=1.5), dict(size=(2,), fill_value=7), dict(size=(2,), fill_value=True),
            dict(size=(), fill_value=-0.5), dict(size=(2,), fill_value=2, dtype=dtype("float64")),
        ],
    ),
    op(
        "scalar_tensor(s, dtype=None)",
        kind="exact",
        torch="torch.scalar_tensor(s, dtype=dtype)",
        paddle=lambda a: f"paddle.to_tensor(s, dtype={'dtype' if a.given('dtype') else repr('float32')})",
        oneflow=lambda a: f"flow.tensor(s, dtype={'dtype' if a.given('dtype') else 'flow.float32'})",
        numpy="np.array(s, dtype=dtype)",
        samples=[dict(s=2.5), dict(s=3), dict(s=3, dtype=WHOLE)],
    ),
    op(
        "arange(end, start=0, step=1, dtype=None)",
        kind="exact",
        torch=_range("torch.arange"), paddle=_range("paddle.arange"), numpy=_range("np.arange"),
        samples=[
            dict(end=4), dict(start=1, end=6), dict(start=0, end=1.0, step=0.25), dict(end=3, dtype=dtype("float32")),
            dict(start=5, end=0, step=-2),
        ],
    ),
    _spaced(
        "linspace",
        [dict(start=0, end=1, steps=5), dict(start=-1.5, end=2.0, steps=4, dtype=dtype("float64")),
         dict(start=1, end=3, steps=1)],
        "faithful",
    ),
    _spaced(
        "logspace",
        [dict(start=0, end=1, steps=5), dict(start=-1.0, end=2.0, steps=4, base=2.0)],
        "faithful", ", base=base",
    ),
    _like("zeros_like"),
    _like("ones_like"),
    _like("empty_like", "random", why=MEMORY),
    op(
        "full_like(self, fill_value, dtype=None)",
        kind="exact",
        torch="torch.full_like(self, fill_value, dtype=dtype)",
        paddle="paddle.full_like(self, fill_value, dtype=dtype)",
        numpy="np.full_like(self, fill_value, dtype=dtype)",
        samples=[
            dict(self=normal(2, 3), fill_value=2), dict(self=integers(3), fill_value=7),
            dict(self=normal(2, 3), fill_value=1, dtype=WHOLE),
        ],
    ),
    _new("zeros"),
    _new("ones"),
    _new("empty", "random", why=MEMORY),
    op(
        "new_full(self, size, fill_value, dtype=None)",
        kind="exact",
        torch="self.new_full(size, fill_value, dtype=dtype)",
        paddle=_typed("paddle.full(size, fill_value, dtype=%s)"), numpy=_typed("np.full(size, fill_value, dtype=%s)"),
        samples=[
            dict(self=normal(2, 3), size=(4,), fill_value=2), dict(self=integers(2), size=(1, 2), fill_value=3),
            dict(self=normal(2), size=(2, 2), fill_value=1, dtype=WHOLE),
        ],
    ),
    op(
        "eye(n, m=None, dtype=None)",
        kind="exact",
        torch=lambda a: f"torch.eye(n{', m' if a.given('m') else ''}, dtype=dtype)",
        paddle=lambda a: f"paddle.eye(n{', m' if a.given('m') else ''}, dtype=dtype)",
        numpy=lambda a: f"np.eye(n{', m' if a.given('m') else ''}, dtype=dtype)",
        samples=[dict(n=3), dict(n=2, m=3), dict(n=2, dtype=WHOLE)],
    ),
    _part("tril"),
    _part("triu"),
    _indices("tril_indices"),
    _indices("triu_indices"),
    op(
        "hann_window(window_length, periodic=True, dtype=None)",
        kind="faithful",
        torch="torch.hann_window(window_length, periodic=periodic, dtype=dtype)",
        oneflow="flow.hann_window(window_length, periodic=periodic, dtype=dtype)",
        paddle=lambda a: "paddle.audio.functional.get_window('hann', window_length, fftbins=periodic, dtype="
        f"{'dtype' if a.given('dtype') else repr('float32')})",
        numpy="np.sin(np.pi * np.arange(window_length) / (window_length if periodic else window_length - 1)) ** 2",
        samples=[dict(window_length=8), dict(window_length=7, periodic=False)],
    ),
    op(
        "vander(x, N=None, increasing=False)",
        kind="faithful",
        torch="torch.vander(x, N=N, increasing=increasing)", paddle="paddle.vander(x, n=N, increasing=increasing)",
        oneflow=absent("OneFlow", "vander"), numpy="np.vander(x, N=N, increasing=increasing)",
        samples=[dict(x=normal(3)), dict(x=normal(3), N=2, increasing=True)],
    ),
)
