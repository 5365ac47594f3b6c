"""Discrete Fourier transforms. OneFlow 0.9 has no complex numbers, and hence none of them."""

from __future__ import annotations

import math

from minrepro.errors import Unsupported
from minrepro.ops.absent import absent
from minrepro.ops.row import Args, Op, Spelling, op
from minrepro.ops.sample import normal, positive

NORMS = ("backward", "ortho", "forward")
_NO_FLOW = absent("OneFlow", "Fourier transform")


def _along(root: str, name: str, size: str, axis: str) -> Spelling:
    """A transform; torch says `dim` where Paddle and NumPy say `axis` or `axes`."""
    keyword = {"torch.fft": "dim", "paddle.fft": axis, "np.fft": axis}[root]

    def spell(a: Args) -> str:
        # Paddle and NumPy do not take None for a norm.
        norm = ", norm=norm" if a.given("norm") else ""
        dims = f", {keyword}=dim" if a.given("dim") else ""
        return f"{root}.{name}(self, {size}={size}{dims}{norm})"

    return spell


def _terms(a: Args) -> int:
    return a.n or a.self.shape[a.dim]


def _many_terms(a: Args) -> int:
    dims = a.dim if a.given("dim") else range(len(a.self.shape))
    return math.prod(a.s) if a.given("s") else math.prod(a.self.shape[axis] for axis in dims)


def _row(name: str, real: bool) -> Op:
    """A transform along one axis."""
    kind = "float32" if real else "complex64"
    return op(
        f"fft_{name}(self, n=None, dim=-1, norm=None)",
        kind="iterative",
        length=_terms,
        torch=_along("torch.fft", name, "n", "axis"),
        paddle=_along("paddle.fft", name, "n", "axis"),
        numpy=_along("np.fft", name, "n", "axis"),
        oneflow=_NO_FLOW,
        samples=[
            dict(self=normal(3, 8, of=kind)),
            dict(self=normal(3, 5, of=kind), norm="ortho"),
            dict(self=normal(4, 3, of=kind), n=6, dim=0, norm="forward"),
        ],
    )


def _plane(name: str, real: bool) -> Op:
    """A transform along two axes, or along all of them."""
    kind = "float32" if real else "complex64"
    default = "None" if name.endswith("n") else "[-2, -1]"
    return op(
        f"fft_{name}(self, s=None, dim={default}, norm=None)",
        kind="iterative",
        length=_many_terms,
        torch=_along("torch.fft", name, "s", "axes"),
        paddle=_along("paddle.fft", name, "s", "axes"),
        numpy=_along("np.fft", name, "s", "axes"),
        oneflow=_NO_FLOW,
        samples=[
            dict(self=normal(2, 4, 6, of=kind)),
            dict(self=normal(2, 4, 5, of=kind), norm="ortho"),
            dict(self=normal(3, 4, 6, of=kind), s=(4, 4), dim=(0, 1)),
        ],
    )


def _shift(name: str) -> Op:
    return op(
        f"fft_{name}(self, dim=None)",
        kind="exact",
        torch=f"torch.fft.{name}(self, dim=dim)",
        paddle=f"paddle.fft.{name}(self, axes=dim)",
        numpy=f"np.fft.{name}(self, axes=dim)",
        oneflow=_NO_FLOW,
        samples=[dict(self=normal(4, 5)), dict(self=normal(4, 5), dim=(1,)), dict(self=normal(4, 5), dim=(0, 1))],
        why="Paddle raises where there is one axis to shift",
    )


def _norm(a: Args, forward: bool) -> str:
    """ATen's number for a norm as a word: 0 none, 1 by the root of the size, 2 by the size."""
    return {0: "backward" if forward else "forward", 1: "ortho", 2: "forward" if forward else "backward"}[
        a.normalization
    ]


def _c2c(root: str) -> Spelling:
    keyword = "dim" if root == "torch.fft" else "axes"
    return lambda a: (
        f"{root}.{'fftn' if a.forward else 'ifftn'}(self, {keyword}=dim, norm='{_norm(a, a.forward)}')"
    )


def _r2c(root: str) -> Spelling:
    keyword = "dim" if root == "torch.fft" else "axes"
    return lambda a: f"{root}.{'rfftn' if a.onesided else 'fftn'}(self, {keyword}=dim, norm='{_norm(a, True)}')"


def _c2r(root: str) -> Spelling:
    keyword = "dim" if root == "torch.fft" else "axes"

    def spell(a: Args) -> str:
        sizes = [a.self.shape[axis] for axis in a.dim[:-1]] + [a.last_dim_size]
        return f"{root}.irfftn(self, s={sizes}, {keyword}=dim, norm='{_norm(a, False)}')"

    return spell


def _decomposed(signature: str, spell, samples: list[dict]) -> Op:
    return op(
        signature,
        kind="iterative",
        length=lambda a: math.prod(a.self.shape[axis] for axis in a.dim),
        torch=spell("torch.fft"),
        paddle=spell("paddle.fft"),
        numpy=spell("np.fft"),
        oneflow=_NO_FLOW,
        samples=samples,
        why="a Fourier transform of a decomposed graph",
    )


def _stft(a: Args) -> str:
    if a.align_to_window or not (a.given("return_complex") and a.return_complex):
        raise Unsupported("paddle.signal.stft gives complex frames that start at multiples of the hop only")
    return (
        "paddle.signal.stft(self, n_fft, hop_length=hop_length, win_length=win_length, window=window, center=False, "
        "normalized=normalized, onesided=onesided)"
    )


COMPLEX = normal(3, 5, of="complex64")

OPS = (
    _row("fft", real=True),
    _row("ifft", real=False),
    _row("rfft", real=True),
    _row("irfft", real=False),
    _row("hfft", real=False),
    _row("ihfft", real=True),
    _plane("fft2", real=True),
    _plane("ifft2", real=False),
    _plane("rfft2", real=True),
    _plane("irfft2", real=False),
    _plane("fftn", real=True),
    _plane("ifftn", real=False),
    _plane("rfftn", real=True),
    _plane("irfftn", real=False),
    _shift("fftshift"),
    _shift("ifftshift"),
    _decomposed(
        "_fft_c2c(self, dim, normalization, forward)", _c2c,
        [
            dict(self=COMPLEX, dim=(1,), normalization=0, forward=True),
            dict(self=COMPLEX, dim=(0, 1), normalization=2, forward=False),
        ],
    ),
    _decomposed(
        "_fft_r2c(self, dim, normalization, onesided)", _r2c,
        [
            dict(self=normal(3, 5), dim=(1,), normalization=0, onesided=True),
            dict(self=normal(3, 5), dim=(0, 1), normalization=1, onesided=False),
        ],
    ),
    _decomposed(
        "_fft_c2r(self, dim, normalization, last_dim_size)", _c2r,
        [
            dict(self=COMPLEX, dim=(1,), normalization=2, last_dim_size=8),
            dict(self=COMPLEX, dim=(0, 1), normalization=1, last_dim_size=9),
        ],
    ),
    op(
        "stft(self, n_fft, hop_length=None, win_length=None, window=None, normalized=False, onesided=None, "
        "return_complex=None, align_to_window=None)",
        kind="iterative",
        length=lambda a: a.n_fft,
        torch=(
            "torch.stft(self, n_fft, hop_length=hop_length, win_length=win_length, window=window, center=False, "
            "normalized=normalized, onesided=onesided, return_complex=return_complex)"
        ),
        paddle=_stft,
        oneflow=_NO_FLOW,
        samples=[
            dict(self=normal(2, 16), n_fft=8, hop_length=4, win_length=8, window=positive(8), return_complex=True),
            dict(
                self=normal(16), n_fft=8, hop_length=2, window=positive(8), normalized=True, onesided=False,
                return_complex=True,
            ),
        ],
        why="centring is a padding of its own in the graph",
    ),
)
