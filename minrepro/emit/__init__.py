"""Writes a finding as a standalone script and as the issue text for the framework's tracker."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from minrepro.emit import issue, script
from minrepro.emit.parts import prepare
from minrepro.ir.reduction import Finding, Repro
from minrepro.ir.tensor import TensorSpec


def emit(finding: Finding, folder: Path, specs: Mapping[str, TensorSpec] = {}) -> Repro:
    """Write ``repro.py`` and ``issue.md``.

    Args:
        finding: what to show.
        folder: where to; it is made if need be.
        specs: value name -> spec of the inner values of a case with several steps, where a spelling depends on them;
            those of feeds, expected values and a completed outcome are known.

    Returns:
        Both paths, and the script with its length and digest. It has not been run: see `verify`.

    Raises:
        InternalError: if the finding has no template, or an inner spec is missing.
        Unsupported: if a step has no spelling on the framework.
    """
    parts = prepare(finding, specs)
    text = script.text(parts)
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / "repro.py", folder / "issue.md"
    paths[0].write_text(text, encoding="utf-8")
    paths[1].write_text(issue.text(parts, text), encoding="utf-8")
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Repro(str(paths[0]), str(paths[1]), len(text.splitlines()), digest, text)
