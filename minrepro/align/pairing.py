"""Which module of the port answers to which module of the reference.

By the user's map, then by name, then by the values that the user's converter gives a layer, then among the children of
paired modules by type, shapes and order, where both sides have equally many of a kind; and a module whose parts are all
those of another one answers to that, as does the only dropout in one to the only dropout in the other. Never by position
alone. What stays without a partner is listed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any, Mapping, Sequence

import msgspec

from minrepro.align import vocabulary
from minrepro.errors import UsageError

WEIGHTS = "weights only"
"""How a pair of norms was found whose classes differ: one may do more (an activation at its end), so that only its weights
are compared, and its results at the next seam."""


CERTAIN = ("root", "map", "name")
"""How a pair was found that nothing else overrules."""
VALUES, PARTS, PLACE = "values of the weights", "their parts", "class and place"
"""How other pairs were found."""
CONTAINERS = ("modulelist", "layerlist", "moduledict", "layerdict")
"""Classes that are never called."""


class Module(msgspec.Struct, frozen=True):
    """One module of a model.

    Attributes:
        path: dotted name; ``""`` for the root.
        type: class, with the framework in front for its own layers.
        own: (name, shape) of its own parameters and buffers.
        methods: methods of the user's class beside forward.
        settings: plain attributes, without leading underscores.
        source: file and line of the user's class.
        made: file and line where the module was constructed.
    """

    path: str
    type: str
    own: tuple[tuple[str, tuple[int, ...]], ...]
    methods: tuple[str, ...]
    settings: Mapping[str, Any]
    source: tuple[str, int] | None = None
    made: tuple[str, int] | None = None


class Unit(msgspec.Struct, frozen=True):
    """A paired unit: its name on each side (``path`` or ``path::method``), and how the pair was found."""

    reference: str
    candidate: str
    how: str = "name"

    @property
    def path(self) -> str:
        """The module path on the reference's side."""
        return self.reference.partition("::")[0]

    @property
    def method(self) -> str:
        """The method, or ``forward``."""
        return self.reference.partition("::")[2] or "forward"


class Pairing(msgspec.Struct, frozen=True):
    """The pairs and what is left over.

    Attributes:
        units: pairs of units, in the reference's order.
        reference, candidate: paths without a partner.
        weights: reference path -> candidate path of modules that only share their weights.
    """

    units: tuple[Unit, ...]
    reference: tuple[str, ...]
    candidate: tuple[str, ...]
    weights: Mapping[str, str] = {}

    @property
    def modules(self) -> dict[str, str]:
        """Reference path -> candidate path of the modules that are compared."""
        return {unit.reference: unit.candidate for unit in self.units if "::" not in unit.reference}


class Rule(msgspec.Struct, frozen=True):
    """One rule of the map; ``*`` stands for one part of a path, and what follows the pattern stays."""

    reference: str
    candidate: str

    def apply(self, path: str) -> str | None:
        """The candidate's path for a path that the rule covers, else None."""
        pattern = "".join(r"([^.]+)" if part == "*" else re.escape(part) for part in re.split(r"(\*)", self.reference))
        found = re.fullmatch(rf"{pattern}((?:\..*)?)", path)
        if found is None:
            return None
        *stars, rest = found.groups()
        parts = self.candidate.split("*")
        return "".join(a + b for a, b in zip(parts, [*stars, ""])) + rest


def rules(texts: Sequence[str]) -> tuple[Rule, ...]:
    """Read map rules ``reference.pattern=candidate.pattern``, the most specific first.

    Raises:
        UsageError: for a text that is no rule, or whose sides have different numbers of ``*``.
    """
    found = []
    for text in texts:
        left, equals, right = text.partition("=")
        if not equals or not left.strip():
            raise UsageError(f"cannot read the map {text!r}; expected NAME=NAME, as in 'encoder.layer.*=encoder.layers.*'")
        if left.count("*") != right.count("*"):
            raise UsageError(f"the map {text!r} has {left.count('*')} stars on the left and {right.count('*')} on the right")
        found.append(Rule(left.strip(), right.strip()))
    return tuple(sorted(found, key=lambda rule: -len(rule.reference.replace("*", ""))))


def modules(tree: Sequence[Mapping[str, Any]]) -> dict[str, Module]:
    """Path -> module, from what a worker answered."""
    return {entry["path"]: msgspec.convert(entry, Module) for entry in tree}


def pair(
    reference: Mapping[str, Module], candidate: Mapping[str, Module], mapped: Sequence[Rule] = (),
    known: Mapping[str, str] = {},
) -> Pairing:
    """Pair two module trees.

    Args:
        reference, candidate: path -> module.
        mapped: the user's rules, most specific first.
        known: reference path -> candidate path of layers that hold the same values.

    Raises:
        UsageError: if a rule covers no module of the reference, or names modules that the port does not have.
    """
    found: dict[str, tuple[str, str]] = {"": ("", "root")}
    _check(reference, candidate, mapped)
    for path in reference:
        other = translated(path, mapped)
        if other in candidate and path:
            found[path] = (other, "map" if other != path else "name")
    taken = {other for other, _ in found.values()}
    for path, other in known.items():
        if path not in found and other not in taken:
            found[path] = (other, VALUES)
            taken.add(other)
    pairs = -1
    while pairs != len(found):  # parts that are paired tell of what holds them, and that of other parts
        pairs = len(found)
        _by_kind(reference, candidate, found, taken)
        _by_parts(reference, candidate, found, taken)
    _by_place(reference, candidate, found, taken)
    units, loose = [], {}
    for path, module in reference.items():
        if path in found:
            other, how = found[path]
            if how == WEIGHTS:
                loose[path] = other
                continue
            units.append(Unit(path, other, how))
            shared = [name for name in module.methods if name in candidate[other].methods]
            units += [Unit(f"{path}::{name}", f"{other}::{name}", how) for name in shared]
    return Pairing(
        tuple(units), tuple(path for path in reference if path not in found),
        tuple(path for path in candidate if path not in taken), loose,
    )


def translated(path: str, mapped: Sequence[Rule]) -> str:
    """A reference path as the port names it."""
    for rule in mapped:
        other = rule.apply(path)
        if other is not None:
            return other
    return path


def _check(reference, candidate, mapped: Sequence[Rule]) -> None:
    left, right = ([*tree, *(f"{m.path}.{name}".lstrip(".") for m in tree.values() for name, _ in m.own)]
                   for tree in (reference, candidate))
    for rule in mapped:
        covered = [path for path in left if rule.apply(path) is not None]
        if not covered:
            raise UsageError(f"the map {rule.reference}={rule.candidate} covers no module of the reference; it has "
                             f"{', '.join(list(reference)[1:12])} ...")
        if rule.candidate and not any(rule.apply(path) in right for path in covered):
            raise UsageError(f"the map {rule.reference}={rule.candidate} leads to no module of the port; it has "
                             f"{', '.join(list(candidate)[1:12])} ...")


def _by_kind(reference, candidate, found: dict[str, tuple[str, str]], taken: set[str]) -> None:
    """Pair what is left below paired modules where both sides have equally many of one kind."""
    for path in sorted(reference, key=lambda p: p.count(".")):
        if path not in found:
            continue
        other = found[path][0]
        left, right = defaultdict(list), defaultdict(list)
        for below in _below(reference, path):
            if below not in found:
                left[_kind(reference[below])].append(below)
        for below in _below(candidate, other):
            if below not in taken:
                right[_kind(candidate[below])].append(below)
        for kind, paths in left.items():
            if kind is not None and len(right.get(kind, ())) == len(paths):
                for one, two in zip(paths, right[kind]):
                    names = [plain(tree[name].type) for tree, name in ((reference, one), (candidate, two))]
                    same = names[0] == names[1] or not kind[0].endswith("norm")
                    found[one] = (two, "type, shapes and order" if same else WEIGHTS)
                    taken.add(two)


def _by_parts(reference, candidate, found: dict[str, tuple[str, str]], taken: set[str]) -> None:
    """Pair what is left where all paired layers below one module are those below another one, from the outside in."""
    back = {other: path for path, (other, _) in found.items()}
    left, right = _held(reference, {path: path for path in found}), _held(candidate, back)
    for parts, paths in left.items():
        mine = [path for path in paths if path not in found]
        theirs = [path for path in right.get(parts, ()) if path not in taken]
        count = min(len(mine), len(theirs))  # where one side has more shells, the innermost are the most alike
        for path, other in zip(mine[len(mine) - count:], theirs[len(theirs) - count:]):
            found[path] = (other, PARTS)
            taken.add(other)


def _by_place(reference, candidate, found: dict[str, tuple[str, str]], taken: set[str]) -> None:
    """Pair layers without weights (a dropout) that are the only ones of their class right below two paired modules."""
    left, right = _only(reference), _only(candidate)
    for path, (other, _) in list(found.items()):
        for kind, below in left.get(path, {}).items():
            theirs = right.get(other, {}).get(kind)
            if below and theirs and below not in found and theirs not in taken:
                found[below] = (theirs, PLACE)
                taken.add(theirs)


def _only(tree: Mapping[str, Module]) -> dict[str, dict[str, str]]:
    """Module -> class -> the only layer of the framework right below it that is of this class and has no weights."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for path, module in tree.items():
        if path and not module.own and ".nn." in module.type:
            held, kind = found[path.rpartition(".")[0]], vocabulary.kind(module.type)
            held[kind] = "" if kind in held else path
    return found


def _held(tree: Mapping[str, Module], names: Mapping[str, str]) -> dict[frozenset[str], list[str]]:
    """Paired layers (as the reference names them) -> the modules that hold just these of them, the outermost first."""
    parts: dict[str, set[str]] = defaultdict(set)
    for path, name in names.items():
        above = path.rpartition(".")[0] if tree[path].own else ""
        while above:
            parts[above].add(name)
            above = above.rpartition(".")[0]
    found = defaultdict(list)
    for path, module in tree.items():
        if path in parts and plain(module.type) not in CONTAINERS:
            found[frozenset(parts[path])].append(path)
    return found


def _below(tree: Mapping[str, Module], path: str) -> list[str]:
    prefix = f"{path}." if path else ""
    return [other for other in tree if other.startswith(prefix) and other != path]


def _kind(module: Module) -> tuple | None:
    """What has to agree for a pair by kind; None for what has no weights, which anything could be."""
    if not module.own:
        return None
    shapes = sorted(tuple(sorted(shape)) for _, shape in module.own if shape)
    return (vocabulary.kind(module.type), *shapes)


def plain(kind: str) -> str:
    """A class name without its framework, in one spelling: Conv2D and Conv2d are the same layer."""
    return kind.rpartition(".")[2].lower()
