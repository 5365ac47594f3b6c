"""The trunk of the forward bugs, for models that are loaded by path."""

import importlib.util
from pathlib import Path

_SPEC = importlib.util.spec_from_file_location("forward_trunk", Path(__file__).parents[1] / "bugs" / "trunk.py")
_MODULE = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_MODULE)
Trunk, rows = _MODULE.Trunk, _MODULE.rows
