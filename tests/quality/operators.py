"""The operators of the bench, each with its legal orders and its faults."""

from __future__ import annotations

from functools import partial

import numpy as np

from . import kernels as k
from .kernels import Operator


def _with_sums(make, names=tuple(k.SUMS)):
    return {name: make(k.SUMS[name]) for name in names}


def _table() -> list[Operator]:
    last = k.drop_last(k.pairwise_sum)
    return [
        Operator(
            "matmul",
            "reduction",
            256,
            ((8, 256), (256, 16)),
            k.matmul,
            {
                "split-K 2": k.split_k(2),
                "split-K 4": k.split_k(4),
                "split-K 16": k.split_k(16),
                "one term at a time": k.split_k(256),
                "float64 accumulator": k.wide_accumulator,
                "inner axis backwards": lambda a, b: a[:, ::-1] @ b[::-1],
                "permuted inner axis": lambda a, b: a[:, np.arange(256) * 5 % 256] @ b[np.arange(256) * 5 % 256],
            },
            {
                "last term dropped": lambda a, b: a[:, :-1] @ b[:-1],
                "columns swapped": k.swapped(k.matmul),
                "scale 1e-5": k.scaled(k.matmul, 1 + 1e-5),
                **k.common(k.matmul),
            },
            factors=True,
            narrow=True,
        ),
        Operator(
            "conv2d",
            "reduction",
            36,
            ((2, 4, 9, 9), (6, 4, 3, 3)),
            k.direct,
            {"im2col": k.im2col, "im2col backwards": partial(k.im2col, order=-1), "by channel": k.by_channel},
            {
                "padding leak": partial(k.im2col, mode="edge"),
                "padding reflected": partial(k.im2col, mode="reflect"),
                "last channel dropped": lambda x, w: k.im2col(x[:, :-1], w[:, :-1]),
                "columns swapped": k.swapped(k.direct),
                **k.common(k.direct),
            },
            factors=True,
            narrow=True,
        ),
        Operator(
            "sum",
            "reduction",
            4096,
            ((8, 4096),),
            k.pairwise_sum,
            _with_sums(lambda add: add),
            {"last element dropped": last, **k.common(k.pairwise_sum)},
            narrow=True,
        ),
        Operator(
            "mean",
            "reduction",
            4096,
            ((8, 4096),),
            k.mean,
            _with_sums(lambda add: partial(k.mean, add=add)),
            {"last element dropped": partial(k.mean, add=last), **k.common(k.mean)},
        ),
        Operator(
            "var",
            "reduction",
            256,
            ((8, 256),),
            k.variance,
            {
                "Welford": k.welford,
                "merged blocks": k.merged,
                **_with_sums(lambda add: partial(k.variance, add=add), ("sequential", "blocked", "pairwise")),
            },
            {
                "ddof 1": partial(k.variance, ddof=1),
                "last element dropped": lambda x: k.variance(x[..., :-1]),
                **k.common(k.variance),
            },
        ),
        Operator(
            "layer_norm",
            "reduction",
            64,
            ((8, 64), (64,), (64,)),
            k.layer_norm,
            {
                "reciprocal root": k.layer_norm_rsqrt,
                "Welford": partial(k.layer_norm, var=k.welford),
                "sequential": partial(
                    k.layer_norm, var=partial(k.variance, add=k.sequential), average=partial(k.mean, add=k.sequential)
                ),
            },
            {
                "eps x10": partial(k.layer_norm, eps=1e-4),
                "ddof 1": partial(k.layer_norm, var=partial(k.variance, ddof=1)),
                "mean drops the last": partial(k.layer_norm, average=lambda x: k.mean(x[..., :-1])),
                **k.common(k.layer_norm),
            },
            fixed=(1, 2),
        ),
        Operator(
            "rms_norm",
            "reduction",
            64,
            ((8, 64), (64,)),
            k.rms_norm,
            {name: partial(k.rms_norm, add=k.SUMS[name]) for name in ("sequential", "8 lanes", "pairwise")},
            {"eps x10": partial(k.rms_norm, eps=1e-5), **k.common(k.rms_norm)},
            fixed=(1,),
        ),
        Operator(
            "batch_norm",
            "faithful",
            1,
            ((8, 32), (32,), (32,), (32,), (32,)),
            k.batch_norm,
            {"folded": k.batch_norm_folded},
            {"eps x10": partial(k.batch_norm, eps=1e-4), **k.common(k.batch_norm)},
            fixed=(2, 3, 4),
        ),
        Operator(
            "softmax",
            "reduction",
            128,
            ((16, 128),),
            k.softmax,
            {
                "online": k.softmax_online,
                "through the logarithm": k.softmax_log,
                "powers of two": k.softmax_base_2,
                "sequential": partial(k.softmax, add=k.sequential),
            },
            {"sum drops the last": partial(k.softmax, add=last), "2**-16 exp": k.softmax_rough, **k.common(k.softmax)},
            narrow=True,
        ),
        Operator(
            "log_softmax",
            "reduction",
            128,
            ((16, 128),),
            k.log_softmax,
            {name: partial(k.log_softmax, add=k.SUMS[name]) for name in ("sequential", "blocked")},
            {"sum drops the last": partial(k.log_softmax, add=last), **k.common(k.log_softmax)},
        ),
        Operator(
            "attention",
            "reduction",
            32,
            ((16, 16), (32, 16), (32, 16)),
            k.attention,
            {
                "query scaled first": k.attention_scaled_first,
                "blocks of keys": k.attention_blocks,
                "online weights": partial(k.attention, weights=k.softmax_online),
            },
            {
                "padding leak": k.attention_leak,
                "last key dropped": lambda q, keys, v: k.attention(q, keys[:-1], v[:-1]),
                "columns swapped": k.swapped(k.attention),
                **k.common(k.attention),
            },
        ),
        Operator(
            "gelu",
            "faithful",
            1,
            ((16, 32),),
            k.gelu,
            {"erfc": k.gelu_erfc},
            {"tanh formula": k.gelu_tanh, **k.common(k.gelu)},
            narrow=True,
        ),
        Operator(
            "exp",
            "faithful",
            1,
            ((16, 32),),
            np.exp,
            {"powers of two": lambda x: np.exp2(x * x.dtype.type(np.log2(np.e)))},
            {"2**-16 error": k.rough_exp, **k.common(np.exp)},
        ),
        Operator(
            "sigmoid",
            "faithful",
            1,
            ((16, 32),),
            k.sigmoid,
            {"half a tanh": k.sigmoid_tanh},
            {**k.common(k.sigmoid)},
        ),
        Operator(
            "tanh",
            "faithful",
            1,
            ((16, 32),),
            np.tanh,
            {"expm1": k.tanh_expm1},
            {**k.common(np.tanh)},
            narrow=True,
        ),
        Operator(
            "cumsum",
            "reduction",
            64,
            ((8, 64),),
            lambda x: np.cumsum(x, -1, dtype=x.dtype),
            {"blocks of 8": lambda x: _scan(x)},
            {
                "exclusive": lambda x: np.cumsum(x, -1, dtype=x.dtype) - x,
                **k.common(lambda x: np.cumsum(x, -1, dtype=x.dtype)),
            },
        ),
    ]


def _scan(x: np.ndarray, size: int = 8) -> np.ndarray:
    blocks = np.cumsum(x.reshape(*x.shape[:-1], -1, size), -1, dtype=x.dtype)
    before = np.cumsum(blocks[..., -1], -1, dtype=x.dtype) - blocks[..., -1]
    return (blocks + before[..., None]).reshape(x.shape)


OPERATORS = _table()
