"""Where the values that a stretch of code reads were made: the mistake may stand above the last seam that was right.

    positions = self.position_ids[:, 1:]       <- wrong
    words = self.word_embeddings(ids)          <- a seam, and right
    return words + self.position_embeddings(positions)
"""

from __future__ import annotations

import ast
from pathlib import Path


def definitions(file: str, first: int, last: int) -> list[tuple[int, int]]:
    """Lines of the assignments above a stretch of a function that reach the names read in it, in order of their lines.

    Args:
        file: Python source.
        first, last: the stretch.
    """
    try:
        tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return []
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    around = [node for node in functions if node.lineno <= first and last <= (node.end_lineno or 0)]
    if not around:
        return []
    inner = max(around, key=lambda node: node.lineno)
    read = {
        node.id for node in ast.walk(inner)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and first <= node.lineno <= last
    }
    latest: dict[str, tuple[int, int]] = {}
    for node in ast.walk(inner):
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.For)) and node.lineno < first:
            end = node.iter.end_lineno if isinstance(node, ast.For) else node.end_lineno
            for name in _bound(node) & read:
                latest[name] = max(latest.get(name, (0, 0)), (node.lineno, end or node.lineno))
    return sorted(set(latest.values()))


def _bound(node: ast.Assign | ast.AugAssign | ast.AnnAssign | ast.For) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
