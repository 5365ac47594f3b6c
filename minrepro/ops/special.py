"""`torch.special` and complex numbers.

Paddle has some of these functions under its own names. OneFlow 0.9 has nearly none, and no complex types at all.
"""

from __future__ import annotations

import math

from minrepro.errors import Unsupported
from minrepro.ops.absent import absent
from minrepro.ops.row import Args, Op, Spelling, op
from minrepro.ops.sample import normal, positive, unit, values

COMPLEX = [dict(self=normal(2, 3, of="complex64")), dict(self=normal(4, of="complex128"))]
EITHER = [*COMPLEX, dict(self=normal(2, 3))]
ERF = "import math\nout = {}"
ERFC = "np.vectorize(math.erfc, otypes=[float])"


def _special(name: str, torch: str, paddle: str = "", oneflow: str = "", numpy: str = "", draw=normal, why="") -> Op:
    """A function of one tensor; what has no text is missing."""
    texts = {"torch": torch, "paddle": paddle, "numpy": numpy}
    own: dict[str, Spelling] = {key: text for key, text in texts.items() if text}
    own["oneflow"] = oneflow or absent("OneFlow", name.removeprefix("special_"))
    samples = [dict(self=draw(2, 3)), dict(self=draw(5, seed=1, of="float64"))]
    return op(f"{name}(self)", kind="faithful", samples=samples, why=why, **own)


def _pair(name: str, torch: str, paddle: str = "", numpy: str = "", left=normal, row=(3,), why: str = "") -> Op:
    """A function of two tensors, the second of them positive and of shape `row` in the first sample."""
    own = {key: text for key, text in (("torch", torch), ("paddle", paddle), ("numpy", numpy)) if text}
    samples = [
        dict(self=left(2, 3), other=positive(*row, seed=1)),
        dict(self=left(2, 3, of="float64"), other=positive(2, 3, seed=1, of="float64")),
    ]
    return op(
        f"{name}(self, other)", kind="faithful", dims="broadcast", samples=samples,
        oneflow=absent("OneFlow", name.removeprefix("special_")), why=why, **own,
    )


def _complex(name: str, torch: str, paddle: str, numpy: str, samples: list[dict] = COMPLEX, kind: str = "exact") -> Op:
    return op(
        f"{name}(self)", kind=kind, torch=torch, paddle=paddle, oneflow=absent("OneFlow", "complex numbers"),
        numpy=numpy, samples=samples,
    )


def _odds(log: str, clip: str) -> Spelling:
    """The logarithm of the odds, of the clipped probability if there is an `eps`."""

    def spell(a: Args) -> str:
        p = f"{clip}(self, eps, 1 - eps)" if a.given("eps") else "self"
        return f"{log}({p} / (1.0 - {p}))"

    return spell


def _above_two(*shape: int, **options):
    tensor = positive(*shape, **options)
    return values(tensor.values + 2, tensor.dtype.name)


GAMMA = dict(left=positive, row=(2, 3), why="Paddle 3.3 does not broadcast: it reads past the smaller tensor")

def _polygamma(a: Args) -> str:
    """Twenty terms of the sum over (x + k) ** -(n + 1), and the formula of Euler and Maclaurin for the rest."""
    if a.n < 1:
        raise Unsupported("polygamma of order 0 has another series")
    order, start, rise = a.n + 1, 20, 1.0
    terms = [f"(self + {k}.0) ** -{order}.0" for k in range(start)]
    terms += [f"(self + {start}.0) ** -{order - 1}.0 / {order - 1}", f"0.5 * (self + {start}.0) ** -{order}.0"]
    for number, bernoulli in enumerate((1 / 6, -1 / 30, 1 / 42, -1 / 30), 1):
        rise *= order if number == 1 else (order + 2 * number - 3) * (order + 2 * number - 2)
        factor = bernoulli / math.factorial(2 * number) * rise
        terms.append(f"{factor!r} * (self + {start}.0) ** -{order + 2 * number - 1}.0")
    return f"{float((-1) ** order * math.factorial(a.n))!r} * ({' + '.join(terms)})"


OPS = (
    _special("lgamma", "torch.lgamma(self)", "paddle.lgamma(self)", "flow.lgamma(self)", draw=positive,
             numpy="import math\nout = np.vectorize(math.lgamma, otypes=[float])(self)"),
    _special("digamma", "torch.digamma(self)", "paddle.digamma(self)", draw=positive),
    _special("erfinv", "torch.erfinv(self)", "paddle.erfinv(self)", "flow.erfinv(self)", draw=unit),
    _special("i0", "torch.i0(self)", "paddle.i0(self)", numpy="np.i0(self)"),
    _special("special_i0e", "torch.special.i0e(self)", "paddle.i0e(self)", numpy="np.i0(self) * np.exp(-np.abs(self))"),
    _special("special_i1", "torch.special.i1(self)", "paddle.i1(self)"),
    _special("special_i1e", "torch.special.i1e(self)", "paddle.i1e(self)"),
    _special(
        "special_ndtr", "torch.special.ndtr(self)", numpy=ERF.format(f"{ERFC}(-self / 2 ** 0.5) / 2"),
        why="torch 2.13 gives 0 in the lower tail of float64",
    ),
    _special("special_log_ndtr", "torch.special.log_ndtr(self)",
             numpy=ERF.format(f"np.log({ERFC}(-self / 2 ** 0.5) / 2)")),
    _special("special_ndtri", "torch.special.ndtri(self)", draw=unit),
    _special(
        "special_entr", "torch.special.entr(self)",
        "-self * paddle.log(self + (self == 0).astype(self.dtype))",
        "-self * flow.log(self + (self == 0).to(self.dtype))",
        "np.where(self < 0, -np.inf, -self * np.log(self + (self == 0)))", draw=positive,
        why="composed on Paddle and OneFlow: right from 0 on, below torch answers -inf",
    ),
    _special("special_erfcx", "torch.special.erfcx(self)", numpy=ERF.format(f"np.exp(self ** 2) * {ERFC}(self)")),
    _special("special_bessel_j0", "torch.special.bessel_j0(self)"),
    _special("special_bessel_j1", "torch.special.bessel_j1(self)"),
    op(
        "logit(self, eps=None)",
        kind="faithful",
        torch="torch.logit(self, eps=eps)", paddle="paddle.logit(self, eps=eps)",
        oneflow=_odds("flow.log", "flow.clamp"), numpy=_odds("np.log", "np.clip"),
        samples=[dict(self=unit(2, 3)), dict(self=unit(2, 3), eps=0.25)],
    ),
    op(
        "polygamma(n, self)",
        kind="faithful",
        torch="torch.polygamma(n, self)", paddle="paddle.polygamma(self, n)", oneflow=absent("OneFlow", "polygamma"),
        numpy=_polygamma,
        samples=[dict(n=1, self=positive(2, 3)), dict(n=2, self=positive(4))],
    ),
    op(
        "mvlgamma(self, p)",
        kind="faithful",
        torch="torch.mvlgamma(self, p)", paddle="paddle.multigammaln(self, p)", oneflow=absent("OneFlow", "mvlgamma"),
        samples=[dict(self=_above_two(2, 3), p=2), dict(self=_above_two(4), p=3)],
    ),
    _pair("igamma", "torch.special.gammainc(self, other)", "paddle.gammainc(self, other)", **GAMMA),
    _pair("igammac", "torch.special.gammaincc(self, other)", "paddle.gammaincc(self, other)", **GAMMA),
    _pair("xlogy", "torch.xlogy(self, other)", "self * paddle.log(other)", "self * np.log(other)"),
    _pair("special_xlog1py", "torch.special.xlog1py(self, other)", "self * paddle.log1p(other)",
          "self * np.log1p(other)"),
    _pair("special_zeta", "torch.special.zeta(self, other)", left=_above_two),
    _complex("real", "torch.real(self)", "paddle.real(self)", "np.real(self)"),
    _complex("imag", "torch.imag(self)", "paddle.imag(self)", "np.imag(self)"),
    _complex("conj", "torch.conj(self)", "paddle.conj(self)", "np.conj(self)", EITHER),
    _complex("_conj", "torch.conj(self)", "paddle.conj(self)", "np.conj(self)"),
    _complex("conj_physical", "torch.conj_physical(self)", "paddle.conj(self)", "np.conj(self)", EITHER),
    _complex("resolve_conj", "torch.resolve_conj(self)", "self", "self", EITHER),
    _complex("resolve_neg", "torch.resolve_neg(self)", "self", "self", EITHER),
    _complex("angle", "torch.angle(self)", "paddle.angle(self)", "np.angle(self)", EITHER, "faithful"),
    op(
        "complex(real, imag)",
        kind="exact",
        dims="broadcast",
        torch="torch.complex(real, imag)", paddle="paddle.complex(real, imag)", numpy="real + 1j * imag",
        oneflow=absent("OneFlow", "complex numbers"),
        samples=[dict(real=normal(2, 3), imag=normal(3, seed=1)),
                 dict(real=normal(4, of="float64"), imag=normal(4, seed=1, of="float64"))],
    ),
    op(
        "polar(abs, angle)",
        kind="faithful",
        dims="broadcast",
        torch="torch.polar(abs, angle)", paddle="paddle.polar(abs, angle)", numpy="abs * np.exp(1j * angle)",
        oneflow=absent("OneFlow", "complex numbers"),
        samples=[dict(abs=positive(2, 3), angle=normal(2, 3, seed=1)),
                 dict(abs=positive(4, of="float64"), angle=normal(4, seed=1, of="float64"))],
    ),
)
