"""Kernels with a label: the same operator computed in legal orders, with planted faults, and in narrow formats.

Every kernel takes the dtype that it computes in, so that its float64 twin exists by construction.
"""

from __future__ import annotations

import math
from typing import Callable

import msgspec
import numpy as np

Array = np.ndarray
Kernel = Callable[..., Array]
"""``kernel(*inputs)``; computes in the dtype of its inputs."""


class Operator(msgspec.Struct, frozen=True):
    """One operator and its kernels.

    Attributes:
        name: for the table.
        kind: class of the verdict.
        length: terms added up for one output element.
        inputs: shape of each input.
        plain: the reference kernel, which also gives the truth in float64.
        legal: other orders of the same computation, by name.
        faults: wrong kernels, by name.
        factors: which inputs are the factors of a bilinear operator (their sensitivity is exact).
        narrow: formats to round inputs or outputs to make sense.
        unsafe: legal kernels that are not legal on some data: name -> data sets to leave out.
        fixed: inputs that stay normal whatever the data set is.
    """

    name: str
    kind: str
    length: int
    inputs: tuple[tuple[int, ...], ...]
    plain: Kernel
    legal: dict[str, Kernel]
    faults: dict[str, Kernel]
    factors: bool = False
    narrow: bool = False
    unsafe: dict[str, tuple[str, ...]] = {}
    fixed: tuple[int, ...] = ()


# -- faults that every operator can have ----------------------------------------------------------------------


def scaled(kernel: Kernel, factor: float = 1.0 + 1e-4) -> Kernel:
    """The result times a factor."""
    return lambda *a: kernel(*a) * a[0].dtype.type(factor)


def one_wrong(kernel: Kernel) -> Kernel:
    """One element off by a thousandth of the RMS."""

    def run(*a: Array) -> Array:
        y = kernel(*a).copy()
        y.flat[y.size // 2] += y.dtype.type(1e-3) * np.sqrt(np.mean(np.square(y, dtype=np.float64))).astype(y.dtype)
        return y

    return run


def swapped(kernel: Kernel) -> Kernel:
    """The last two columns swapped."""

    def run(*a: Array) -> Array:
        y = kernel(*a).copy()
        y[..., [-1, -2]] = y[..., [-2, -1]]
        return y

    return run


def common(kernel: Kernel) -> dict[str, Kernel]:
    """Faults of the result."""
    return {"scale 1e-4": scaled(kernel), "one wrong element": one_wrong(kernel)}


# -- sums -----------------------------------------------------------------------------------------------------


def sequential(x: Array) -> Array:
    """Left to right."""
    return np.add.accumulate(x, axis=-1)[..., -1]


def backwards(x: Array) -> Array:
    """Right to left."""
    return sequential(x[..., ::-1])


def blocked(x: Array, size: int = 64) -> Array:
    """Blocks of 64 one after the other, then the blocks."""
    return sequential(np.stack([sequential(x[..., i : i + size]) for i in range(0, x.shape[-1], size)], -1))


def strided(x: Array, lanes: int = 8) -> Array:
    """Eight lanes side by side, as vector units do."""
    return sequential(sequential(np.swapaxes(x.reshape(*x.shape[:-1], -1, lanes), -1, -2)))


def tree(x: Array) -> Array:
    """Pairwise."""
    while x.shape[-1] > 1:
        odd = x[..., -1:] if x.shape[-1] % 2 else x[..., :0]
        x = np.concatenate([x[..., 0 : x.shape[-1] - 1 : 2] + x[..., 1::2], odd], -1)
    return x[..., 0]


def kahan(x: Array) -> Array:
    """Compensated."""
    total, lost = np.zeros_like(x[..., 0]), np.zeros_like(x[..., 0])
    for i in range(x.shape[-1]):
        term = x[..., i] - lost
        new = total + term
        lost, total = (new - total) - term, new
    return total


SUMS: dict[str, Callable[[Array], Array]] = {
    "sequential": sequential,
    "backwards": backwards,
    "blocked": blocked,
    "8 lanes": strided,
    "pairwise": tree,
    "compensated": kahan,
}


def pairwise_sum(x: Array) -> Array:
    """NumPy's own."""
    return np.sum(x, axis=-1, dtype=x.dtype)


def mean(x: Array, add: Callable[[Array], Array] = pairwise_sum) -> Array:
    """Arithmetic mean over the last axis."""
    return add(x) / x.dtype.type(x.shape[-1])


def variance(x: Array, add: Callable[[Array], Array] = pairwise_sum, ddof: int = 0) -> Array:
    """Two passes."""
    d = x - mean(x, add)[..., None]
    return add(d * d) / x.dtype.type(x.shape[-1] - ddof)


def welford(x: Array) -> Array:
    """One pass with running mean."""
    m, s = np.zeros_like(x[..., 0]), np.zeros_like(x[..., 0])
    for i in range(x.shape[-1]):
        d = x[..., i] - m
        m = m + d / x.dtype.type(i + 1)
        s = s + d * (x[..., i] - m)
    return s / x.dtype.type(x.shape[-1])


def merged(x: Array, size: int = 32) -> Array:
    """Moments of blocks, merged (Chan)."""
    count, m, s = 0, np.zeros_like(x[..., 0]), np.zeros_like(x[..., 0])
    for i in range(0, x.shape[-1], size):
        part = x[..., i : i + size]
        n, d = part.shape[-1], mean(part) - m
        s = s + variance(part) * x.dtype.type(n) + d * d * x.dtype.type(count * n / (count + n))
        m = m + d * x.dtype.type(n / (count + n))
        count += n
    return s / x.dtype.type(count)


# -- products -------------------------------------------------------------------------------------------------


def matmul(a: Array, b: Array) -> Array:
    """The library's."""
    return a @ b


def split_k(parts: int) -> Kernel:
    """The inner axis in parts whose products are added."""

    def run(a: Array, b: Array) -> Array:
        size = a.shape[-1] // parts
        total = np.zeros((a.shape[0], b.shape[1]), a.dtype)
        for i in range(0, a.shape[-1], size):
            total = total + a[:, i : i + size] @ b[i : i + size]
        return total

    return run


def wide_accumulator(a: Array, b: Array) -> Array:
    """Accumulated in float64, rounded once."""
    return (a.astype(np.float64) @ b.astype(np.float64)).astype(a.dtype)


def _pad(x: Array, width: int = 1, mode: str = "constant") -> Array:
    return np.pad(x, ((0, 0), (0, 0), (width, width), (width, width)), mode=mode)


def im2col(x: Array, w: Array, mode: str = "constant", order: int = 1) -> Array:
    """Convolution with padding 1 as one matrix product."""
    x = _pad(x, 1, mode)
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))
    columns = windows.transpose(0, 2, 3, 1, 4, 5).reshape(-1, w[0].size)[:, ::order]
    y = columns @ w.reshape(w.shape[0], -1)[:, ::order].T
    return y.reshape(x.shape[0], x.shape[2] - 2, x.shape[3] - 2, -1).transpose(0, 3, 1, 2)


def direct(x: Array, w: Array) -> Array:
    """Convolution, one kernel position after the other."""
    x = _pad(x)
    height, width = x.shape[2] - 2, x.shape[3] - 2
    y = np.zeros((x.shape[0], w.shape[0], height, width), x.dtype)
    for i in range(3):
        for j in range(3):
            y = y + np.einsum("nchw,oc->nohw", x[:, :, i : i + height, j : j + width], w[:, :, i, j])
    return y


def by_channel(x: Array, w: Array) -> Array:
    """Convolution, one input channel after the other."""
    return sequential(np.stack([im2col(x[:, c : c + 1], w[:, c : c + 1]) for c in range(w.shape[1])], -1))


# -- normalisation and softmax --------------------------------------------------------------------------------


def layer_norm(
    x: Array, w: Array, b: Array, eps: float = 1e-5, var: Kernel = variance, average: Kernel = mean
) -> Array:
    """Over the last axis, with weight and bias."""
    return (x - average(x)[..., None]) / np.sqrt(var(x) + x.dtype.type(eps))[..., None] * w + b


def layer_norm_rsqrt(x: Array, w: Array, b: Array) -> Array:
    """The reciprocal root first, multiplied into the weight."""
    r = x.dtype.type(1) / np.sqrt(welford(x) + x.dtype.type(1e-5))
    return (x - mean(x, sequential)[..., None]) * (r[..., None] * w) + b


def rms_norm(x: Array, w: Array, eps: float = 1e-6, add: Callable[[Array], Array] = pairwise_sum) -> Array:
    """Divided by the root of the mean square."""
    return x / np.sqrt(mean(x * x, add) + x.dtype.type(eps))[..., None] * w


def batch_norm(x: Array, m: Array, v: Array, w: Array, b: Array, eps: float = 1e-5) -> Array:
    """Inference."""
    return (x - m) / np.sqrt(np.abs(v) + x.dtype.type(eps)) * w + b


def batch_norm_folded(x: Array, m: Array, v: Array, w: Array, b: Array) -> Array:
    """Inference as one multiply-add."""
    a = w / np.sqrt(np.abs(v) + x.dtype.type(1e-5))
    return x * a + (b - m * a)


def softmax(x: Array, add: Callable[[Array], Array] = pairwise_sum) -> Array:
    """The maximum subtracted first."""
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / add(e)[..., None]


def softmax_online(x: Array, size: int = 16) -> Array:
    """One pass over blocks with running maximum and sum."""
    m, s = np.full_like(x[..., 0], -np.inf), np.zeros_like(x[..., 0])
    for i in range(0, x.shape[-1], size):
        part = x[..., i : i + size]
        new = np.maximum(m, part.max(-1))
        s = s * np.exp(m - new) + pairwise_sum(np.exp(part - new[..., None]))
        m = new
    return np.exp(x - m[..., None]) / s[..., None]


def softmax_log(x: Array) -> Array:
    """Through the logarithm of the sum."""
    return np.exp(log_softmax(x))


def softmax_base_2(x: Array) -> Array:
    """With powers of two, as GPUs do."""
    e = np.exp2((x - x.max(-1, keepdims=True)) * x.dtype.type(math.log2(math.e)))
    return e / pairwise_sum(e)[..., None]


def log_softmax(x: Array, add: Callable[[Array], Array] = pairwise_sum) -> Array:
    """The logarithm of the softmax."""
    d = x - x.max(-1, keepdims=True)
    return d - np.log(add(np.exp(d)))[..., None]


def rough_exp(x: Array) -> Array:
    """Exp with a relative error of 2**-16 that changes sign."""
    e = np.exp(x)
    return e * (1 + x.dtype.type(2.0**-16) * np.sin(np.arange(x.size, dtype=x.dtype)).reshape(x.shape))


def softmax_rough(x: Array) -> Array:
    """Softmax on that exp."""
    e = rough_exp(x - x.max(-1, keepdims=True))
    return e / pairwise_sum(e)[..., None]


def drop_last(kernel: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """A sum that forgets its last term."""
    return lambda x: kernel(x[..., :-1])


def attention(q: Array, k: Array, v: Array, weights: Kernel = softmax) -> Array:
    """Scaled dot product."""
    return weights(q @ k.T / q.dtype.type(math.sqrt(q.shape[-1]))) @ v


def attention_scaled_first(q: Array, k: Array, v: Array) -> Array:
    """The query scaled before the product."""
    return softmax((q * q.dtype.type(q.shape[-1] ** -0.5)) @ k.T) @ v


def attention_blocks(q: Array, k: Array, v: Array, size: int = 8) -> Array:
    """Keys in blocks, renormalised on the way."""
    m, s = np.full(q.shape[0], -np.inf, q.dtype), np.zeros(q.shape[0], q.dtype)
    y = np.zeros((q.shape[0], v.shape[1]), q.dtype)
    for i in range(0, k.shape[0], size):
        score = q @ k[i : i + size].T / q.dtype.type(math.sqrt(q.shape[-1]))
        new = np.maximum(m, score.max(-1))
        e, old = np.exp(score - new[:, None]), np.exp(m - new)
        s, y, m = s * old + pairwise_sum(e), y * old[:, None] + e @ v[i : i + size], new
    return y / s[:, None]


def attention_leak(q: Array, k: Array, v: Array) -> Array:
    """A padding key of zeros takes part."""
    return attention(q, np.concatenate([k, np.zeros_like(k[:1])]), np.concatenate([v, np.zeros_like(v[:1])]))


# -- elementwise ----------------------------------------------------------------------------------------------

_erf = np.vectorize(math.erf, otypes=[float])
_erfc = np.vectorize(math.erfc, otypes=[float])


def gelu(x: Array) -> Array:
    """With the error function."""
    half, root = x.dtype.type(0.5), x.dtype.type(math.sqrt(0.5))
    return half * x * (1 + _erf(x * root).astype(x.dtype))


def gelu_erfc(x: Array) -> Array:
    """With the complementary error function."""
    return x.dtype.type(0.5) * x * _erfc(-x * x.dtype.type(math.sqrt(0.5))).astype(x.dtype)


def gelu_tanh(x: Array) -> Array:
    """The approximation by tanh."""
    t = x.dtype.type
    return t(0.5) * x * (1 + np.tanh(t(math.sqrt(2 / math.pi)) * (x + t(0.044715) * x * x * x)))


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x))."""
    return 1 / (1 + np.exp(-x))


def sigmoid_tanh(x: Array) -> Array:
    """Half a tanh; wrong far below zero in relative terms only."""
    return x.dtype.type(0.5) * (1 + np.tanh(x.dtype.type(0.5) * x))


def tanh_expm1(x: Array) -> Array:
    """Through expm1, which is exact near zero."""
    e = np.expm1(-2 * np.abs(x))
    return np.sign(x) * (-e / (2 + e))
