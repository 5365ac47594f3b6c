"""The tree keeps its promises: imports go one way, stages agree, files stay readable, worker code stands alone."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from minrepro.pipeline import STAGES

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "minrepro"
ORDER = (
    "errors", "registry", "ir", "ops", "backends", "environments", "worker", "replays", "zoo", "capture", "compare",
    "localise", "diagnose", "shrink", "emit", "verify", "corpus", "options", "record", "state", "pipeline", "sweep", "align",
    "cli",
)
SOURCES = sorted(path for path in PACKAGE.rglob("*.py"))
WORKER_SIDE = sorted(
    [*PACKAGE.glob("backends/[a-z]*.py"), *PACKAGE.glob("replays/[a-z]*.py"),
     *(PACKAGE / "worker" / name for name in ("main.py", "evaluator.py", "building.py")),
     *PACKAGE.glob("capture/inside/*.py"), *PACKAGE.glob("zoo/[a-z]*.py"), PACKAGE / "capture/worker_side.py",
     PACKAGE / "align/worker_side.py", *PACKAGE.glob("align/inside/*.py"), *PACKAGE.glob("zoo/ports/*/*.py")]
)


def part(name: str) -> str:
    """Top-level part of a dotted module name inside the package."""
    pieces = name.split(".")
    return pieces[1] if len(pieces) > 1 else ""


def imports(path: Path) -> list[str]:
    """Dotted names of our modules that a file imports."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "minrepro":
            names = [node.module] if node.module != "minrepro" else [f"minrepro.{alias.name}" for alias in node.names]
            found += names
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names if alias.name.split(".")[0] == "minrepro"]
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_go_one_way(path: Path) -> None:
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if own in ("__init__", "__main__"):
        return
    for name in imports(path):
        other = part(name)
        if other in ORDER and other != own:
            assert ORDER.index(other) < ORDER.index(own), f"{path.name} imports {name}, which stands right of {own}"


def test_stages_are_the_packages() -> None:
    assert list(STAGES) == ["capture", "compare", "localise", "diagnose", "shrink", "emit", "verify", "corpus"]
    for name in STAGES:
        assert (PACKAGE / name / "__init__.py").exists(), name


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_modules_say_what_they_are_for_and_stay_short(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if not text.strip():
        return
    assert ast.get_docstring(ast.parse(text)), f"{path} has no module docstring"
    assert len(text.splitlines()) <= 450, f"{path} is {len(text.splitlines())} lines long: is it one idea?"


@pytest.mark.parametrize("path", WORKER_SIDE, ids=lambda p: str(p.relative_to(ROOT)))
def test_worker_code_is_python_38_and_imports_no_minrepro(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 8))
    host_half = path.parent.name in ("backends", "replays", "zoo") and path.name in ("__init__.py", "program.py", "gradient.py")
    if host_half:
        return
    names = [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and not n.level]
    names += [alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names]
    assert not [name for name in names if name.split(".")[0] == "minrepro"], f"{path} imports minrepro"


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_host_imports_no_framework(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if path in WORKER_SIDE:
        tree.body = [node for node in tree.body if not isinstance(node, (ast.FunctionDef, ast.ClassDef))]
        if "zoo" in path.relative_to(PACKAGE).parts or path.parent.name == "inside":
            return
    names = [n.module or "" for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and not n.level]
    names += [alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names]
    assert not {name.split(".")[0] for name in names} & {"torch", "paddle", "oneflow", "jax", "tensorflow"}, path


def test_no_machine_paths_and_no_open_ends() -> None:
    for path in [*SOURCES, ROOT / "README.md", ROOT / "pyproject.toml"]:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"/(root|home|work|tmp)/[A-Za-z]", text), f"{path} names a folder of one machine"
        assert not re.search(r"\b(TODO|FIXME|XXX)\b|raise NotImplementedError", text), f"{path} leaves something open"
        assert "allclose(" not in text, f"{path} compares with a bare allclose"


def test_every_dependency_says_why_it_is_there() -> None:
    lines = (ROOT / "pyproject.toml").read_text().split("dependencies = [")[1].split("]")[0].splitlines()
    for line in filter(str.strip, lines):
        assert "#" in line, f"{line.strip()} has no reason beside it"
