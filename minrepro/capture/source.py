"""Where the model is: what ``--model`` says, resolved to a file or module and a callable in it; a port or converter, too."""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path
from typing import Any

from minrepro import zoo
from minrepro.errors import UsageError

_MODULE = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


def resolve(model: str, what: str = "model") -> dict[str, Any]:
    """Find a model by name.

    Args:
        model: a zoo name, ``file.py:callable`` or ``package.module:callable``.
        what: the user calls it: ``model``, ``port`` or ``converter``, which the zoo has none of.

    Returns:
        {"file" or "module", "callable", "paths"} for the worker; `paths` go on its module path.

    Raises:
        UsageError: if there is no such zoo model or file.
    """
    known = zoo.names() if what != "converter" else {}
    if model in known:
        file, function = known[model]
        return {"file": file, "callable": function, "paths": [str(Path(file).parent)]}
    place, colon, function = model.rpartition(":")
    if colon and function and place.endswith(".py"):
        file = Path(place).expanduser()
        if not file.is_file():
            raise UsageError(f"the {what} {model!r} names a file that is not there: {file}")
        return {"file": str(file.resolve()), "callable": function, "paths": [str(file.resolve().parent), os.getcwd()]}
    if colon and function and _MODULE.fullmatch(place):
        return {"module": place, "callable": function, "paths": [os.getcwd()]}
    if model.endswith(".py"):
        raise UsageError(f"the {what} {model!r} does not say which callable it is; expected {model}:CALLABLE")
    close = difflib.get_close_matches(model, known, 1)
    hint = f"; did you mean {close[0]!r}?" if close else "."
    names = f"a zoo name ({', '.join(known)}), " if known else ""
    raise UsageError(f"unknown {what} {model!r}{hint} Expected {names}file.py:callable or package.module:callable.")
