"""Everything that travels, as JSON and back: bit for bit, and without trust in what is read.

The text is plain JSON. What JSON cannot say is an object with one key that starts with ``$``, which no parameter,
package or field name does: ``{"$ref": "x"}``, ``{"$dtype": "float32"}``, ``{"$float": "nan"}``,
``{"$complex": [1.0, {"$float": "inf"}]}``. A tensor is ``{"dtype", "shape", "layout", "data"}``: dtype, shape of the
dense base, the chain of views over it, and the base's bytes (base64, little-endian, C order; bfloat16 as its bits).

Decoding builds typed values and checks them: it never imports, evaluates or opens anything that the text names.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
import numpy as np

from minrepro.errors import InternalError, UsageError
from minrepro.ir.case import Case
from minrepro.ir.dtype import DTYPES, DType, dtype
from minrepro.ir.graph import Ref
from minrepro.ir.tensor import CONTIGUOUS, Expand, Layout, Link, Permute, Slice, Tensor

FORMAT = 1
"""Version of the text; a file with a higher one is refused."""
LIMIT_BYTES = 1 << 31
"""Longest text that is read, and largest view that a layout may describe: a broadcast can ask for any size."""

T = TypeVar("T")


class _Wire(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tensor as it is written."""

    dtype: str
    shape: tuple[int, ...]
    data: str
    layout: tuple[Link, ...] = ()


class _Envelope(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Format version, kind and value."""

    format: int
    kind: str
    value: Any


def encode(value: Any) -> bytes:
    """Write a case, or any other struct of `ir`, as one line of JSON text; equal values give equal text."""
    return json.dumps({"format": FORMAT, "kind": type(value).__name__, "value": plain(value)}, allow_nan=False).encode()


def decode(data: bytes, kind: type[T] = Case, limit_bytes: int = LIMIT_BYTES) -> T:  # type: ignore[assignment]
    """Read what `encode` wrote.

    Args:
        data: the text.
        kind: type that is expected.
        limit_bytes: longest text that is accepted.

    Raises:
        UsageError: if it is truncated, malformed, too large, of another kind or of a newer format.
    """
    if len(data) > limit_bytes:
        raise UsageError(f"expected at most {limit_bytes} bytes, found {len(data)}; reduce the case before storing it")
    try:
        raw = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"expected JSON, found {_excerpt(data)} ({error}); the file is truncated or not ours") from None
    if isinstance(raw, dict) and isinstance(raw.get("format"), int) and raw["format"] > FORMAT:
        raise UsageError(
            f"the file has format {raw['format']}, this minrepro reads up to {FORMAT}; install a newer minrepro"
        )
    envelope = _convert(raw, _Envelope)
    if envelope.kind != kind.__name__:
        raise UsageError(f"expected a {kind.__name__}, found a {envelope.kind}; give the right file")
    return from_plain(envelope.value, kind)


def kind_of(head: bytes) -> str:
    """What the beginning of a text says it holds (``Case``, ``Finding`` ...); empty if `encode` did not write it."""
    match = re.match(rb'\{\s*"format":\s*\d+,\s*"kind":\s*"(\w+)",\s*"value":', head)
    return match[1].decode() if match else ""


def plain(value: Any) -> Any:
    """The value as dicts, lists and scalars that JSON can say, without the envelope of `encode`."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": str(float(value))}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, complex):
        return {"$complex": [plain(value.real), plain(value.imag)]}
    if isinstance(value, Ref):
        return {"$ref": value.name}
    if isinstance(value, DType):
        return {"$dtype": value.name}
    if isinstance(value, Tensor):
        return _plain_tensor(value)
    if isinstance(value, msgspec.Struct):
        config = value.__struct_config__
        tag = {config.tag_field: config.tag} if config.tag is not None else {}
        quiet = {name for name in getattr(value, "OMITTED", ()) if not getattr(value, name)}
        return tag | {name: plain(getattr(value, name)) for name in value.__struct_fields__ if name not in quiet}
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    raise InternalError(f"a {type(value).__name__} cannot be stored; make it a struct of ir first")


def from_plain(data: Any, kind: type[T]) -> T:
    """Build a typed value from what `plain` gave.

    Raises:
        UsageError: naming the place that is wrong, what was expected there and what was found.
    """
    try:
        value = _convert(_untag(data), kind)
    except RecursionError:
        raise UsageError("expected a case, found values nested hundreds deep; the file is not ours") from None
    problem = value.lint() if isinstance(value, Case) else None
    if problem:
        raise UsageError(f"the stored case is malformed: {problem}; store it again")
    return value


def _convert(data: Any, kind: type[T]) -> T:
    try:
        return msgspec.convert(data, kind, dec_hook=_hook)
    except msgspec.ValidationError as error:
        raise UsageError(f"malformed {kind.__name__.strip('_').lower()}: {error}; store it again") from None


def _hook(kind: type, data: Any) -> Any:
    if kind is Tensor:
        return _tensor(msgspec.convert(data, _Wire))
    raise TypeError(f"a {kind.__name__} cannot be read")


def _untag(data: Any) -> Any:
    """Turn the ``$`` objects into what they stand for, and lists into tuples."""
    if isinstance(data, list):
        return tuple(_untag(item) for item in data)
    if not isinstance(data, dict):
        return data
    if len(data) == 1:
        (key, item), = data.items()
        if key.startswith("$"):
            return _tagged(key, item)
    return {key: _untag(item) for key, item in data.items()}


def _tagged(key: str, item: Any) -> Any:
    if key == "$ref" and isinstance(item, str):
        return Ref(item)
    if key == "$dtype" and isinstance(item, str) and item in DTYPES:
        return DTYPES[item]
    if key == "$float" and item in ("nan", "inf", "-inf"):
        return float(item)
    if key == "$complex" and isinstance(item, list) and len(item) == 2:
        parts = [_untag(part) for part in item]
        if all(isinstance(part, float) for part in parts):
            return complex(*parts)
    raise UsageError(f"expected $ref, $dtype, $float or $complex, found {key}: {str(item)[:60]!r}; store it again")


def _plain_tensor(tensor: Tensor) -> dict[str, Any]:
    little = tensor.base.astype(tensor.base.dtype.newbyteorder("<"), copy=False)
    return {
        "dtype": tensor.dtype.name,
        "shape": list(tensor.base.shape),
        "layout": [plain(link) for link in tensor.layout.links],
        "data": base64.b64encode(little.tobytes()).decode(),
    }


def _tensor(wire: _Wire) -> Tensor:
    """Check and build a tensor; raises ValueError, which the caller completes with the place in the file."""
    if wire.dtype not in DTYPES:
        raise ValueError(f"expected a dtype ({', '.join(DTYPES)}), found {wire.dtype!r}")
    of = dtype(wire.dtype)
    try:
        raw = base64.b64decode(wire.data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise ValueError(f"expected base64 data, found {wire.data[:20]!r} ({error})") from None
    if any(not 0 <= extent < 1 << 48 for extent in wire.shape) or len(wire.shape) > 32:
        raise ValueError(f"expected at most 32 sizes from 0 on, found {list(wire.shape)[:40]}")
    due = math.prod(wire.shape) * of.storage.itemsize
    if len(raw) != due:
        raise ValueError(f"expected {due} bytes for {wire.dtype}{list(wire.shape)}, found {len(raw)}")
    if of.kind == "bool" and raw.strip(b"\0\1"):
        raise ValueError("expected bool bytes 0 or 1, found others")
    base = np.frombuffer(raw, of.storage.newbyteorder("<")).reshape(wire.shape)
    _check_layout(base, wire.layout)
    return Tensor(base, of, Layout(wire.layout) if wire.layout else CONTIGUOUS)


def _check_layout(view: np.ndarray, links: tuple[Link, ...]) -> None:
    for link in links:
        if isinstance(link, Permute):
            good = sorted(link.order) == list(range(view.ndim))
        elif isinstance(link, Slice):
            good = (
                0 <= link.axis < view.ndim and link.extent == view.shape[link.axis]
                and 0 <= link.start <= link.stop <= link.extent and link.step >= 1 and link.length >= 0
            )
        elif isinstance(link, Expand):
            good = 0 <= link.axis < view.ndim and view.shape[link.axis] == 1 and 0 <= link.size < LIMIT_BYTES
            good = good and view.nbytes * link.size < LIMIT_BYTES
        else:
            good = len(link.shape) == len(link.strides) <= 32 and min((*link.shape, *link.strides, 0)) >= 0
            good = good and math.prod(link.shape) * view.itemsize < LIMIT_BYTES
        if not good:
            raise ValueError(f"the view {link} does not fit a tensor of shape {list(view.shape)}")
        view = link.apply(view)


def _excerpt(data: bytes) -> str:
    text = data[:30].decode(errors="replace")
    return f"{text!r}..." if len(data) > 30 else repr(text)
