"""Weights from the reference to the port: what the converter gave, what the framework stored, and who is to blame.

Every entry of the port's state dict is looked at three times: as the reference has it, as the converter made it, as it
stands in the port after loading.
"""

from __future__ import annotations

import math
from typing import Any, Collection, Mapping, Sequence

import msgspec

from minrepro.align import buffers
from minrepro.align.pairing import Module, Pairing, Rule, plain, translated
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


class Entry(msgspec.Struct):
    """One entry of the port's state dict.

    Attributes:
        key: on the port's side; ``""`` for one that only the reference has.
        source: key on the reference's side; ``""`` for one that only the port has.
        given: how the converter's value relates to the reference's.
        stored: how the stored value relates to the converter's.
        blame: ``""``, ``converter``, ``framework``, ``model`` or ``port`` (its layer has another set of parameters).
        detail: one sentence.
    """

    key: str
    source: str
    given: str
    stored: str
    blame: str = ""
    detail: str = ""
    shape: tuple[int, ...] = ()
    contiguous: bool = True


class Loader:
    """Carries the state across and checks it.

    Args:
        reference, candidate: both sides, with their models built.
        pairing: of the modules.
        modules: path -> module of the port.
        mapped: the user's rules, which also rename state keys.
    """

    def __init__(
        self, reference: Seat, candidate: Seat, pairing: Pairing, modules: Mapping[str, Module], mapped: Sequence[Rule],
        progress: Progress = lambda done, total, what: None,
    ):
        self.reference, self.candidate, self.pairing = reference, candidate, pairing
        self.modules, self.mapped, self.progress = modules, mapped, progress
        self.partners: dict[str, str] = {}
        self.turned: frozenset[str] = frozenset()

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
        self.partners = partners = self._partners(theirs, mine)
        turned = [key for key, entry in mine.items() if self._turned(entry, theirs.get(partners.get(key, "")), mine, theirs)]
        self.turned = frozenset(turned)
        if theirs and mine and not partners and convert is None:
            raise UsageError(
                f"no entry of the port's state answers to one of the reference's: {', '.join(list(mine)[:6])} against "
                f"{', '.join(list(theirs)[:6])}; give --convert FILE.py:FUNCTION or --map"
            )
        if convert is None:
            self._fit(theirs, mine, partners, turned)
            found, surplus = self._in_groups(theirs, mine, turned), []
        else:
            found, surplus = self._through(convert, theirs, turned)
        giver = "pairing" if convert is None else "converter"
        entries = [_entry(key, partners.get(key, ""), found[key], giver) for key in mine if key in found]
        entries += [
            Entry(key, "", "extra", "not loaded", "converter", f"the converter gives {key}, which the port does not have")
            for key in surplus
        ]
        for entry in entries:
            self._uneven(entry, theirs)
        used = {entry.source for entry in entries} | {entry.key for entry in entries}
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

    def _through(self, convert, theirs, turned) -> tuple[dict[str, Any], list[str]]:
        """Carry every entry through the user's converter, which may ask for any of them at once."""
        names: dict[str, str] = {}
        for done, key in enumerate(theirs):
            names |= self._sent({key}, theirs)
            self.progress(done + 1, len(theirs), key)
        made = self.candidate.ask("converted", source=convert, names=names, turned=turned)
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

    def _partners(self, theirs, mine) -> dict[str, str]:
        """Key of the port -> key of the reference."""
        modules = {**self.pairing.modules, **self.pairing.weights}
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
        return found

    def _turned(self, entry: Mapping[str, Any], source: Mapping[str, Any] | None, mine, theirs) -> bool:
        """True if an entry lies the other way round on the two sides: Paddle's own layers agree with each other."""
        return len(entry["shape"]) == 2 and _lies(entry, mine) != (source is not None and _lies(source, theirs))


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


def _entry(key: str, source: str, found: Mapping[str, Any], giver: str) -> Entry:
    """Judge one entry of the port."""
    given, kept, shape = found["given"], found["stored"], tuple(found["shape"])
    entry = Entry(key, source, given, kept, "", "", shape, found.get("contiguous", True))
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
