"""A port mistake in a module's own code, reduced to the two expressions that differ.

`scene` steps through the guilty call on both sides, `pair` finds the smallest differing expressions whose repair repairs
the unit, `reduce` makes sizes and values small, `passes` take away what changes nothing, `emit` writes the script and
runs it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from minrepro.align.findings import Row
from minrepro.align.glue import emit, pair, reduce
from minrepro.align.glue.oracle import Oracle
from minrepro.align.glue.scene import Impossible, Scene, record
from minrepro.align.glue.spelling import Unspelled
from minrepro.align.glue.trim import trim
from minrepro.align.seat import Progress
from minrepro.errors import MinreproError

LINES = 40
"""No script is longer."""


class Glue(msgspec.Struct):
    """What came of a reduction.

    Attributes:
        path: the verified script, None if there is none.
        lines: its length.
        steps: operations in both sides' own code, before and after.
        elements: input numbers of the pair, before and after.
        summary: one sentence with the lines of both sides.
        queries: bodies that were run.
        verified: the script was run in a fresh process, and the reference's half in another.
        why: why there is no script.
    """

    path: Path | None = None
    lines: int = 0
    steps: tuple[int, int] = (0, 0)
    elements: tuple[int, int] = (0, 0)
    summary: str = ""
    queries: int = 0
    verified: bool = False
    why: str = ""


def reduce_glue(alignment: Any, row: Row, folder: Path, progress: Progress = lambda done, total, what: None) -> Glue:
    """Reduce the unit of a row to a script; never raises for what a user's source may be.

    Args:
        alignment: after its run, both workers alive.
        row: the guilty unit.
        folder: where the script goes.
        progress: called with (done, total, what).
    """
    oracle = Oracle(alignment.pair.reference, alignment.pair.candidate)
    try:
        return _reduced(alignment, row, Path(folder), progress, oracle)
    except (Impossible, Unspelled, MinreproError) as error:
        return Glue(queries=oracle.queries, why=str(error))
    except Exception as error:  # the sources are a user's: whatever is odd in them costs the script, not the alignment
        return Glue(queries=oracle.queries, why=f"{type(error).__name__}: {error}")


def _reduced(alignment: Any, row: Row, folder: Path, progress: Progress, oracle: Oracle) -> Glue:
    progress(0, 0, f"stepping through {row.port or 'the root'}")
    scene = record(alignment, row)
    found = pair.find(scene, oracle)
    reducer = reduce.Reducer(scene, found, oracle, progress)
    small = reducer.run()
    if small is None:
        raise Impossible("the two expressions alone do not differ clearly")
    small = trim(small, reducer, oracle)
    sides = (alignment.pair.reference, alignment.pair.candidate)
    lines = _lines(scene, found)
    story = emit.Story(
        (scene.reference, scene.port), scene.place, (_version(sides[0]), _version(sides[1])), lines,
        sides[1].versions(),
    )
    script = emit.text(small, story, sides[0].spec.backend, sides[1].spec)
    glue = Glue(
        lines=len(script.splitlines()), steps=(reduce.before(scene), sum(f.steps for f in small.functions)),
        elements=(sum(v.size for v in found.inputs.values()), small.elements), queries=oracle.queries,
        summary=_summary(scene, small, lines),
    )
    glue.why = emit.verified(script, small, *sides)
    if not glue.why and glue.lines > LINES:
        glue.why = f"the script has {glue.lines} lines"
    if not glue.why:
        folder.mkdir(parents=True, exist_ok=True)
        glue.path, glue.verified = folder / f"glue-{_file(row)}.py", True
        glue.path.write_text(script, encoding="utf-8")
    return glue


def _lines(scene: Scene, found: pair.Pair) -> tuple[int, int]:
    """Line of each root; of what is only handed through, the line of the target."""
    at = []
    for trace, root, target in zip((scene.reference, scene.port), found.roots, scene.targets):
        node = trace.nodes[root]
        at.append(node.line if node.kind in ("op", "write", "raised") else trace.nodes[target].line)
    return at[0], at[1]


def _summary(scene: Scene, small: reduce.Small, lines: tuple[int, int]) -> str:
    right, wrong = (function.lines[-1].removeprefix("return ") for function in small.functions)
    where = f"{Path(scene.port.file).name}:{lines[1]}"
    return f"{where} has {wrong}, the reference ({Path(scene.reference.file).name}:{lines[0]}) has {right}"


def _version(side: Any) -> str:
    backend = side.spec.backend
    versions = side.versions()
    return f"{backend.title} {versions.get(backend.package) or versions.get(backend.module) or ''}".strip()


def _file(row: Row) -> str:
    return (row.port or "root").replace("::", ".").replace(".", "-")
