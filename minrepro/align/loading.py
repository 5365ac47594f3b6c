"""Weights from the reference to the port: what the converter gave, what the framework stored, and who is to blame.

Every entry of the port's state dict is looked at three times: as the reference has it, as the converter made it, as it
stands in the port after loading.
"""

from __future__ import annotations

import math
from typing import Any, Collection, Mapping, Sequence

import msgspec
import numpy as np

from minrepro.align import buffers
from minrepro.align.pairing import CERTAIN, Module, Rule, pair, plain, translated
from minrepro.align.seat import Progress, Seat
from minrepro.errors import UsageError
from minrepro.ir.dtype import dtype

NAMES = {"running_mean": "_mean", "running_var": "_variance"}
"""Names of entries that Paddle's batch norms change (Paddle's API guide from PyTorch)."""
BACK = {theirs: ours for ours, theirs in NAMES.items()}
UNSAVED = ("num_batches_tracked",)
"""Entries of torch's batch norms that other frameworks do not have; they take no part in a forward."""
TURNED = {("paddle", "linear"): "weight"}
"""(framework, layer) -> its entry that lies the other way round than torch's (Paddle: Linear.weight is (in, out))."""

GROUP = 8 << 20
"""Bytes that are on their way into the port at a time, at least one entry."""


class Piece(msgspec.Struct, frozen=True):
    """Rows of an entry of the reference in an entry of the port.

    Attributes:
        source: key of the reference.
        squeezed: its axes of size 1 are left out, as where a convolution of one pixel is a linear layer.
        turned: it is transposed then.
        axis: along which it is a part; None for the whole.
        at, start, length: `length` rows of the source from `start` on are those of the port's entry from `at` on.
        extent: rows that the source has.
    """

    source: str
    squeezed: bool
    turned: bool
    axis: int | None
    at: int
    start: int
    length: int
    extent: int

    @property
    def is_whole(self) -> bool:
        """True for all of an entry of the same rank."""
        return self.axis is None and not self.squeezed

    def of(self, source: np.ndarray) -> np.ndarray:
        """Its values, given those of the whole source."""
        facing = source.squeeze() if self.squeezed else source
        facing, rows = facing.T if self.turned else facing, slice(self.start, self.start + self.length)
        return facing if self.axis is None else facing[(slice(None),) * self.axis + (rows,)]

    def __str__(self) -> str:
        name = f"{self.source}{'.squeeze()' if self.squeezed else ''}{'.T' if self.turned else ''}"
        if self.axis is None or self.length == self.extent:
            return name
        return f"{name}[{':, ' * self.axis}{self.start}:{self.start + self.length}]"


class Entry(msgspec.Struct):
    """One entry of the port's state dict.

    Attributes:
        key: on the port's side; ``""`` for one that only the reference has.
        source: key on the reference's side; ``""`` for one that only the port has.
        given: how the converter's value relates to the reference's.
        stored: how the stored value relates to the converter's.
        blame: ``""``, ``converter``, ``framework``, ``model`` or ``port`` (its layer has another set of parameters).
        detail: one sentence.
        pieces: parts of the reference's entries that it is made of, where it answers to none of them as a whole.
    """

    key: str
    source: str
    given: str
    stored: str
    blame: str = ""
    detail: str = ""
    shape: tuple[int, ...] = ()
    contiguous: bool = True
    pieces: tuple[Piece, ...] = ()


class Loader:
    """Carries the state across and checks it.

    Args:
        reference, candidate: both sides, with their models built.
        trees: path -> module of each side.
        mapped: the user's rules, which also rename state keys.

    Attributes:
        pairing: of the modules; what the converter gives tells of some pairs.
        partners: key of the port -> key of the reference that it answers to.
        turned: keys of the port that lie the other way round than the reference's.
        pieces: other keys of the port -> parts of the reference's entries that they are made of.
        guessed: keys of the port that were only recognised by the values that the converter gave them.
        free: keys of layers of the user's own, which may keep their weights either way round.
    """

    def __init__(
        self, reference: Seat, candidate: Seat, trees: tuple[dict[str, Module], dict[str, Module]], mapped: Sequence[Rule],
        progress: Progress = lambda done, total, what: None,
    ):
        self.reference, self.candidate, self.trees = reference, candidate, trees
        self.mapped, self.progress = mapped, progress
        self.pairing = pair(*trees, mapped)
        self.partners: dict[str, str] = {}
        self.turned: frozenset[str] = frozenset()
        self.pieces: dict[str, tuple[Piece, ...]] = {}
        self.guessed: set[str] = set()
        self.free: set[str] = set()

    def load(self, convert: Mapping[str, Any] | None) -> list[Entry]:
        """Carry the state across and compare it.

        Args:
            convert: where the user's converter is; None pairs entries by module and turns what is known to lie the
                other way round.

        Raises:
            UsageError: if nothing can be paired.
            CaptureError: if the converter or the loading raises.
        """
        theirs = {entry["key"]: entry for entry in self.reference.ask("state")}
        mine = {entry["key"]: entry for entry in self.candidate.ask("state", bind=False)}
        made = self._converted(convert, theirs) if convert is not None else []
        self.partners = partners = self._recognised(theirs, mine, made)
        turned = [key for key, entry in mine.items() if self._turned(entry, theirs.get(partners.get(key, "")), mine, theirs)]
        if theirs and mine and not partners and convert is None:
            raise UsageError(
                f"no entry of the port's state answers to one of the reference's: {', '.join(list(mine)[:6])} against "
                f"{', '.join(list(theirs)[:6])}; give --convert FILE.py:FUNCTION or --map"
            )
        if convert is None:
            self._fit(theirs, mine, partners, turned)
            found, surplus = self._in_groups(theirs, mine, turned), []
        else:
            found, surplus = self._through(made, turned)
        self.free = own = {key for key, entry in found.items() if entry["given"] in ("transposed", "not transposed")
               and not (_known(mine[key]) and _known(theirs[partners[key]])) and entry["stored"] == "equal"}
        self.turned = frozenset(turned) ^ own
        for key in own:  # a layer of the user's own may keep its weights either way
            found[key]["given"] = "turned as due"
        giver = "pairing" if convert is None else "converter"
        entries = [
            _entry(key, partners.get(key, ""), found[key], giver, self.pieces.get(key, ())) for key in mine if key in found
        ]
        entries += [
            Entry(key, "", "extra", "not loaded", "converter", f"the converter gives {key}, which the port does not have")
            for key in surplus
        ]
        for entry in entries:
            self._uneven(entry, theirs)
        used = {entry.source for entry in entries} | {entry.key for entry in entries}
        used |= {piece.source for entry in entries for piece in entry.pieces}
        entries += [
            Entry("", source, "not carried over", "", "", f"nothing of the port answers to {source}")
            for source in theirs if source not in used and not source.endswith(UNSAVED)
        ]
        return entries + [
            Entry(key, source, "computed", "with other values", "port", told, shape)
            for key, source, shape, told in buffers.compare(self.reference, self.candidate, self.pairing)
        ]

    def _in_groups(self, theirs, mine, turned) -> dict[str, Any]:
        """Carry every entry to its partner, a few at a time: no side ever holds a second copy of the model."""
        self.candidate.ask("expect", keys=list(self.partners))
        found: dict[str, Any] = {}
        for group in _groups(self.partners, mine):
            sent = self._sent({self.partners[key] for key in group}, theirs)
            self.candidate.ask("converted", source=None, names={key: sent[self.partners[key]] for key in group}, turned=turned)
            found.update(self.candidate.ask("loaded", partners={key: key for key in group}, turned=turned)["entries"])
            self.progress(len(found), len(self.partners), group[-1])
        return {**found, **self.candidate.ask("untouched", partners={})["entries"]}

    def _converted(self, convert, theirs) -> list[str]:
        """Send every entry through the user's converter, which may ask for any of them at once; the keys that it makes."""
        names: dict[str, str] = {}
        for done, key in enumerate(theirs):
            names |= self._sent({key}, theirs)
            self.progress(done + 1, len(theirs), key)
        return list(self.candidate.ask("converted", source=convert, names=names, turned=[]))

    def _recognised(self, theirs, mine, made: Sequence[str]) -> dict[str, str]:
        """Key of the port -> key of the reference: by map and name, then by the values that the converter gives."""
        certain = {unit.reference: unit.candidate for unit in self.pairing.units if unit.how in CERTAIN}
        named = self._partners(theirs, mine, certain)
        named = {key: source for key, source in named.items() if len(mine[key]["shape"]) == len(theirs[source]["shape"])}
        asked = [key for key in made if key in mine and key not in named]
        told = self.candidate.ask("origins", keys=asked) if asked else {}
        ways = {key: [tuple(msgspec.convert(piece, Piece) for piece in way) for way in told[key]] for key in told}
        origins = {key: found[0] for key, found in ways.items() if len(found) == 1}
        for _ in range(2):  # what holds a layer tells which of several copies it is
            whole = {key: found[0].source for key, found in origins.items() if len(found) == 1 and found[0].is_whole}
            parts = {key.rpartition(".")[0] for key in origins if key not in whole}
            self.pairing = pair(*self.trees, self.mapped, _layers(whole, certain, parts))
            origins |= self._within(ways)
        partners = {**whole, **self._partners(theirs, mine, {**self.pairing.modules, **self.pairing.weights})}
        self.pieces = {key: way for key, way in origins.items() if way[0].squeezed or key not in partners}
        partners = {key: source for key, source in partners.items() if key not in self.pieces}
        self.guessed = set(origins)
        return partners

    def _within(self, ways: Mapping[str, list[tuple[Piece, ...]]]) -> dict[str, tuple[Piece, ...]]:
        """Of several ways to make an entry, as of layers that are copies of one, the one in the module paired around it."""
        back = {other: path for path, other in self.pairing.modules.items() if path}
        found = {}
        for key, choices in ways.items():
            around = key.rpartition(".")[0]
            while around and around not in back:
                around = around.rpartition(".")[0]
            near = [way for way in choices if around and all(piece.source.startswith(f"{back[around]}.") for piece in way)]
            if len(near) == 1:
                found[key] = near[0]
        return found

    def _through(self, made: Sequence[str], turned) -> tuple[dict[str, Any], list[str]]:
        """Load what the converter has made."""
        self.candidate.ask("expect", keys=list(made))
        answer = self.candidate.ask("loaded", partners=self.partners, turned=turned)
        rest = self.candidate.ask("untouched", partners=self.partners, turned=turned)
        return {**answer["entries"], **rest["entries"]}, answer["surplus"]

    def _sent(self, keys: Collection[str], theirs) -> dict[str, str]:
        """Send entries of the reference as arrays; key -> variable on the port's side."""
        shared = self.reference.share([theirs[key]["name"] for key in keys])
        names = {key: f"from_{theirs[key]['name']}" for key in keys}
        self.candidate.bind({names[key]: shared[theirs[key]["name"]] for key in keys}, arrays=True)
        return names

    def _uneven(self, entry: Entry, theirs: Mapping[str, Any]) -> None:
        """Blame the port where its layer lacks what the reference's has, or has more: no converter can mend that."""
        owner, _, name = entry.key.rpartition(".")
        path = {port: reference for reference, port in self.pairing.modules.items()}.get(owner)
        if entry.blame != "converter" or entry.source or path is None:
            return
        known = f"{path}.{name}".lstrip(".") in theirs
        if entry.given == "extra" and known:
            entry.blame, entry.detail = "port", f"the port's {owner or 'root'} has no {name}, the reference's has one"
        elif entry.given == "missing" and not known:
            entry.blame, entry.detail = "port", f"the port's {owner or 'root'} has a {name}, the reference's has none"

    def _fit(self, theirs, mine, partners, turned) -> None:
        """Refuse partners of different shapes: without a converter nothing can mend them."""
        for key, source in partners.items():
            due = theirs[source]["shape"][::-1] if key in turned else theirs[source]["shape"]
            if due != mine[key]["shape"]:
                raise UsageError(
                    f"the port's {key} has the shape {mine[key]['shape']}, the reference's {source} has "
                    f"{theirs[source]['shape']}; give --convert FILE.py:FUNCTION"
                )

    def _partners(self, theirs, mine, modules: Mapping[str, str]) -> dict[str, str]:
        """Key of the port -> key of the reference, where their modules are paired like this."""
        found = {}
        for source in theirs:
            path, _, name = source.rpartition(".")
            choices = [translated(source, self.mapped)]
            if path in modules:
                prefix = f"{modules[path]}." if modules[path] else ""
                choices += [f"{prefix}{name}", f"{prefix}{NAMES.get(name, name)}", f"{prefix}{BACK.get(name, name)}"]
            key = next((choice for choice in choices if choice in mine), None)
            if key is not None:
                found[key] = source
        return {**_shaped(theirs, mine, found, modules), **found}

    def _turned(self, entry: Mapping[str, Any], source: Mapping[str, Any] | None, mine, theirs) -> bool:
        """True if an entry lies the other way round on the two sides: Paddle's own layers agree with each other."""
        return len(entry["shape"]) == 2 and _lies(entry, mine) != (source is not None and _lies(source, theirs))


def _shaped(theirs, mine, found: Mapping[str, str], modules: Mapping[str, str]) -> dict[str, str]:
    """Pairs of what is left in two paired modules, where a shape stands only once on either side."""
    left: dict[tuple[str, tuple[int, ...]], list[str]] = {}
    right: dict[tuple[str, tuple[int, ...]], list[str]] = {}
    for entries, used, held in ((theirs, set(found.values()), left), (mine, set(found), right)):
        for key, entry in entries.items():
            if key not in used and not key.endswith(UNSAVED):
                held.setdefault((key.rpartition(".")[0], tuple(entry["shape"])), []).append(key)
    pairs = ((keys, right.get((modules.get(path), shape), [])) for (path, shape), keys in left.items())
    return {own[0]: keys[0] for keys, own in pairs if len(keys) == len(own) == 1}


def _layers(whole: Mapping[str, str], certain: Mapping[str, str], parts: Collection[str]) -> dict[str, str]:
    """Reference path -> candidate path of the layers of which every known entry comes from one and the same layer.

    Args:
        whole: key of the port -> key of the reference with the same values.
        certain: pairs of modules that are known already.
        parts: layers of the port that hold parts of entries.
    """
    owners: dict[str, set[str]] = {}
    for key, source in whole.items():
        owners.setdefault(key.rpartition(".")[0], set()).add(source.rpartition(".")[0])
    found = [(*paths, owner) for owner, paths in owners.items() if len(paths) == 1 and owner not in parts]
    claimed = [path for path, _ in found]
    return {path: owner for path, owner in found if claimed.count(path) == 1 and path not in certain}


def _known(entry: Mapping[str, Any]) -> bool:
    """True for an entry of one of the framework's own layers, which lies as its documentation says."""
    return ".nn." in entry["owner"]


def _lies(entry: Mapping[str, Any], entries: Mapping[str, Mapping[str, Any]]) -> bool:
    """True if an entry lies the other way round than torch's. A module under two names is listed by the first one."""
    entry = entries.get(entry["tied"], entry) if not entry["owner"] else entry
    framework, _, layer = entry["owner"].partition(".nn.")
    return TURNED.get((framework, plain(layer))) == entry["key"].rpartition(".")[2]


def _groups(keys: Collection[str], entries: Mapping[str, Mapping[str, Any]]) -> list[list[str]]:
    """Keys in groups of about `GROUP` bytes; entries that are tied to each other stay together."""
    groups: list[list[str]] = []
    held, owner = GROUP, ""
    for key in sorted(keys, key=lambda key: entries[key]["tied"] or key):
        entry = entries[key]
        if held >= GROUP and (entry["tied"] or key) != owner:
            groups.append([])
            held = 0
        owner = entry["tied"] or key
        groups[-1].append(key)
        held += math.prod(entry["shape"]) * dtype(entry["dtype"]).storage.itemsize
    return groups


def _entry(key: str, source: str, found: Mapping[str, Any], giver: str, pieces: tuple[Piece, ...]) -> Entry:
    """Judge one entry of the port."""
    given, kept, shape = found["given"], found["stored"], tuple(found["shape"])
    entry = Entry(key, source, given, kept, "", "", shape, found.get("contiguous", True), pieces)
    if found["tied"]:
        entry.given, entry.stored = "tied", f"tied to {found['tied']}"
    elif given == "missing":
        buffer = found["kind"] == "buffer"
        entry.blame = "" if buffer and not source else giver
        told = "the converter gives no" if giver == "converter" else "nothing of the reference answers to"
        entry.detail = f"{told} {key}, which keeps its initial value"
    elif given not in FINE:
        twin = f": it is the reference's {found['twin']}" if found.get("twin") else ""
        entry.blame, entry.detail = "converter", f"the converter gives {key} {given} compared to {source}{twin}"
    elif given == "unknown" and kept.startswith("of another shape"):
        entry.blame, entry.detail = "converter", f"the converter gives {key} {' + '.join(map(str, pieces)) or 'a value'} {kept}"
    elif kept != "equal" and given in ("equal", "turned as due", "unknown"):
        entry.blame = "framework"
        entry.detail = f"right values in, {_STORED.get(kept, kept + ' values')} stored"
    return entry


FINE = ("equal", "turned as due", "unknown", "equal all the same")
_STORED = {"in memory order": "memory-order values", "transposed": "transposed values", "with other values": "other values"}


def unregistered(name: str) -> Entry:
    """The entry for modules of the port that its framework does not know, so that nothing can be loaded into them."""
    return Entry(name, "", "not registered", "not loaded", "pairing",
                 f"{name} holds modules in a plain container, which keep their initial values; register them (LayerList, "
                 "ModuleList)")


def counts(entries: Sequence[Entry]) -> dict[str, int]:
    """How many entries each blame has."""
    found: dict[str, int] = {}
    for entry in entries:
        found[entry.blame or "fine"] = found.get(entry.blame or "fine", 0) + 1
    return found
