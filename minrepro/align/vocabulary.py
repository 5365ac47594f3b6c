"""One vocabulary for the layers of all frameworks: what a class is called, and what its settings are (their API guides).

Two spellings of one setting that cannot be told to mean the same are left out, so that a difference is always one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from minrepro.align.pairing import Module

KINDS = (
    (re.compile(r"conv([123])dtranspose"), r"convtranspose\1d"),
    (re.compile(r"(?:sync)?(batch|instance)norm(?:[123]d)?"), r"\1norm"),
    (re.compile(r"(?:constant|zero|reflection|replication|circular)pad([123]d)"), r"pad\1"),
    (re.compile(r"upsampling(?:nearest|bilinear)2d"), "upsample"),
    (re.compile(r"pixelshufflev2"), "pixelshuffle"),
    (re.compile(r"swish"), "silu"),
    (re.compile(r"nondynamicallyquantizablelinear"), "linear"),
    (re.compile(r"thresholdedrelu"), "threshold"),
)
"""Class name in small letters -> the name of the same layer everywhere."""
IMPLIED = {
    "upsamplingnearest2d": {"mode": "nearest"}, "upsamplingbilinear2d": {"mode": "bilinear", "align_corners": True},
    "zeropad": {"mode": "constant", "value": 0.0}, "constantpad": {"mode": "constant"}, "reflectionpad": {"mode": "reflect"},
    "replicationpad": {"mode": "replicate"}, "circularpad": {"mode": "circular"},
}
"""What the beginning of a class name says about its settings."""
SAME = {
    "epsilon": "eps", "axis": "dim", "negative_slope": "slope", "ceil_mode": "ceil", "kernel_size": "kernel",
    "ksize": "kernel", "kernel_sizes": "kernel", "strides": "stride", "paddings": "padding", "dilations": "dilation",
    "divisor_override": "divisor",
    "start_axis": "start_dim", "stop_axis": "end_dim", "min_val": "min", "max_val": "max", "lambd": "threshold",
    "normalize_before": "norm_first", "exclusive": "count_include_pad", "time_major": "batch_first",
    "num_directions": "bidirectional",
}
"""Attribute, without leading underscores -> the name it is compared under."""
OPPOSITE = {"exclusive", "time_major"}
"""Attributes that say the opposite of what they are compared under."""
EVERYWHERE = {
    "eps", "approximate", "momentum", "stride", "padding", "dilation", "groups", "num_groups", "kernel", "ceil",
    "alpha", "beta", "slope", "num_heads", "align_corners", "padding_mode", "output_padding", "output_size",
    "scale_factor", "upscale_factor", "downscale_factor", "divisor", "min", "max", "threshold", "start_dim", "end_dim",
    "norm_first", "count_include_pad", "k",
}
"""Settings that change a result and mean the same in every layer that has them."""
SOMEWHERE = {
    "p": ("dropout", "alphadropout"), "mode": ("upsample", "pad"), "value": ("pad", "threshold"),
    "dim": ("softmax", "logsoftmax", "glu", "cosinesimilarity"), "size": ("upsample", "localresponsenorm"),
    "dropout": ("lstm", "gru", "rnn", "multiheadattention"), "batch_first": ("lstm", "gru", "rnn"),
    "bidirectional": ("lstm", "gru", "rnn"), "num_layers": ("lstm", "gru", "rnn"),
}
"""The same for settings of some layers only, by the beginnings of their names."""
OWN = {"_weight": "weight", "scale": "weight"}
"""Paddle's names of parameters that others call by one name."""


def kind(title: str) -> str:
    """What a framework's layer is, from its class, by one name for all frameworks."""
    name = _plain(title)
    return next((pattern.sub(new, name) for pattern, new in KINDS if pattern.fullmatch(name)), name)


def _plain(title: str) -> str:
    return title.rpartition(".")[2].lower()


def own(module: Module) -> set[str]:
    """Names of the parameters that belong to a layer itself."""
    return {OWN.get(name, name) for name, _ in module.own}


def spoken(module: Module) -> dict[str, Any]:
    """The settings of a framework's layer that can be compared with those of another framework's."""
    what = kind(module.type)
    found: dict[str, Any] = {}
    for name, value in module.settings.items():
        told = SAME.get(name, name)
        if told in EVERYWHERE or what.startswith(SOMEWHERE.get(told, ())):
            found[told] = not value if name in OPPOSITE else value
    for start, implied in IMPLIED.items():
        found |= implied if _plain(module.type).startswith(start) else {}
    for name, change in _MEANT.items():
        if name in found:
            found[name] = change(found[name], module, what)
    if "count_include_pad" in found and not _pads(found):
        del found["count_include_pad"]  # it says nothing
    return found


def _momentum(value: Any, module: Module, what: str) -> Any:
    """Paddle keeps the share of the old value; without running statistics there is none."""
    if what == "instancenorm":
        return 0.0
    return round(1.0 - value, 12) if isinstance(value, float) and module.type.startswith("paddle.") else value


def _stride(value: Any, module: Module, what: str) -> Any:
    """A pool without a stride takes its window."""
    if value is not None or "pool" not in what:
        return value
    return next((module.settings[name] for name in ("kernel_size", "ksize") if name in module.settings), None)


def _padding(value: Any, module: Module, what: str) -> Any:
    """Both ends of every axis where they are the same, as Paddle lists them, once."""
    value = 0 if isinstance(value, str) and value.lower() == "valid" else value
    axes = re.search(r"([123])d$", what)
    if axes is None or what.startswith("pad") or not isinstance(value, list) or len(value) != 2 * int(axes[1]):
        return value.lower() if isinstance(value, str) else value
    return value[::2] if value[::2] == value[1::2] else value


def _pads(found: dict[str, Any]) -> bool:
    padding = found.get("padding", 0)
    return any(padding) if isinstance(padding, list) else bool(padding)


_MEANT: dict[str, Callable[[Any, Module, str], Any]] = {
    "approximate": lambda value, module, what: {True: "tanh", False: "none"}.get(value, value),
    "divisor": lambda value, module, what: value or None,
    "align_corners": lambda value, module, what: bool(value),
    "bidirectional": lambda value, module, what: value if isinstance(value, bool) else value == 2,
    "momentum": _momentum, "stride": _stride, "padding": _padding,
}
"""Setting -> what a framework means by its value."""
