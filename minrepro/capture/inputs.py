"""What ``--input`` says: a spec to draw values from, or a NumPy file to read them from.

    x=float32[2,3,32,32]        standard normal values, seeded
    ids=int64[2,16]<1000        integers from 0 below the bound (10 if there is none)
    mask=bool[2,16]             fair coin flips
    x=@images.npz:first         one array of an .npz file;  x=@image.npy
    batch.npz                   every array of the file under its own name

The name is a parameter of the model's forward; without a name the value goes by position. Values are drawn in the
worker, so nothing large travels.
"""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any, Mapping, Sequence

from minrepro.errors import UsageError
from minrepro.ir.dtype import DTYPES

_SPEC = re.compile(r"(?P<dtype>[a-z]+\d*)\[(?P<shape>[\d,\s]*)\](<(?P<high>\d+))?")
_NAMED = re.compile(r"(?P<name>[A-Za-z_]\w*)=(?P<rest>.+)", re.DOTALL)
FORMS = "x=float32[2,3,32,32], ids=int64[2,16]<1000, mask=bool[2,16], x=@file.npz:key, x=@file.npy or file.npz"


def parse(texts: Sequence[str]) -> list[dict[str, Any]]:
    """Read input specs.

    Args:
        texts: the specs, in the order given.

    Returns:
        One object per spec: {"name", "dtype", "shape", "high"} or {"name", "file", "key"}.

    Raises:
        UsageError: with the forms that are understood, if one is not.
    """
    return [_one(text.strip()) for text in texts]


def _one(text: str) -> dict[str, Any]:
    named = _NAMED.fullmatch(text)
    name, rest = (named["name"], named["rest"]) if named else ("", text)
    if rest.startswith("@") or rest.endswith((".npz", ".npy")):
        return _file(text, name, rest.removeprefix("@"))
    spec = _SPEC.fullmatch(rest)
    if spec is None:
        raise UsageError(f"cannot read the input {text!r}; expected one of {FORMS}")
    if spec["dtype"] not in DTYPES:
        raise UsageError(f"unknown dtype {spec['dtype']!r} in the input {text!r}; known: {', '.join(DTYPES)}")
    if spec["high"] and DTYPES[spec["dtype"]].kind not in ("int", "uint"):
        raise UsageError(f"the input {text!r} has a bound, but only integers take one, as in ids=int64[2,16]<1000")
    sizes = [size.strip() for size in spec["shape"].split(",")] if spec["shape"].strip() else []
    if not all(sizes):
        raise UsageError(f"the sizes of the input {text!r} have a gap; expected as in x=float32[2,3,32,32]")
    return {
        "name": name, "dtype": spec["dtype"], "shape": [int(size) for size in sizes], "high": int(spec["high"] or 10),
    }


def _file(text: str, name: str, place: str) -> dict[str, Any]:
    path, colon, key = place.partition(".npz:")
    file = Path(f"{path}.npz" if colon else place)
    if not file.is_file():
        raise UsageError(f"the input {text!r} names a file that is not there: {file}")
    if name and file.suffix == ".npz" and not key:
        raise UsageError(f"the input {text!r} names a whole .npz file; add the array, as in {name}=@{file}:KEY")
    if key and key not in (known := arrays(file)):
        raise UsageError(f"the input {text!r} names an array that is not in {file}; it has: {', '.join(known) or 'none'}")
    return {"name": name, "file": str(file.resolve()), "key": key}


def arrays(file: Path) -> list[str]:
    """Names of the arrays in an .npz file.

    Raises:
        UsageError: if it is no such file.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            return sorted(name.removesuffix(".npy") for name in archive.namelist())
    except (OSError, zipfile.BadZipFile) as error:
        raise UsageError(f"cannot read the input file {file}: {error}; expected what numpy.savez writes") from None


def contents(specs: Sequence[Mapping[str, Any]]) -> str:
    """A sentence about the arrays of the whole .npz files among parsed specs, whose names are those of parameters."""
    files = [Path(spec["file"]) for spec in specs if spec.get("file", "").endswith(".npz") and not spec["key"]]
    return " ".join(f"{file} has: {', '.join(arrays(file)) or 'none'}." for file in files)
