"""The smallest pair of expressions that holds the fault.

Values that are equal on both sides are common knowledge: they become inputs. Among the steps whose values differ, one of
the port is to blame if the unit's result becomes right once the reference's value of some step is put in its place. So
nothing is guessed from the text: the pair that is kept is the smallest whose repair repairs the unit.
"""

from __future__ import annotations

from typing import Iterator

import msgspec
import numpy as np

from minrepro.align.glue.oracle import Oracle
from minrepro.align.glue.scene import Impossible, Scene
from minrepro.align.glue.spelling import BESIDE, Function, Unspelled, free, spell
from minrepro.align.glue.trace import Trace, close, gap, identical

TRIALS = 60
"""Repairs that are tried before the whole difference is kept."""
SHARE = 0.01
"""Share of a fault that rounding may be of, where steps amplify it."""
STRANGE = 3
"""What an input that only one side has weighs, in steps."""


class Pair(msgspec.Struct):
    """Two steps whose values should agree, and what they are computed from.

    Attributes:
        roots: step on the reference and on the port.
        names: per side, given step -> name of the input.
        inputs: name -> value.
    """

    roots: tuple[int, int]
    names: tuple[dict[int, str], dict[int, str]]
    inputs: dict[str, np.ndarray]


class Matching:
    """Which steps of both sides have equal values.

    Args:
        scene: both sides.
    """

    def __init__(self, scene: Scene):
        self.scene = scene
        self.partner = self._matched()
        self.shared = (frozenset(self.partner.values()), frozenset(self.partner))
        self.alike: dict[int, int] = {}

    def _matched(self) -> dict[int, int]:
        """Step of the port -> step of the reference with the same value, of the same name where there are several."""
        found: dict[int, int] = {}
        reference, port = self.scene.reference, self.scene.port
        for number, value in port.values.items():
            if port.plainly(number) != number or port.nodes[number].kind == "raised":
                continue
            choices = [n for n, v in reference.values.items() if reference.plainly(n) == n and close(v, value)]
            if choices:
                name = label(port, number)
                found[number] = min(choices, key=lambda n: (
                    not identical(reference.values[n], value), label(reference, n) != name, n))
        return found

    def cost(self, side: int, root: int) -> int:
        """Steps below a root until values are shared."""
        trace = (self.scene.reference, self.scene.port)[side]
        if root in self.shared[side]:
            return 0
        total = 0
        for number in trace.cone(root, self.shared[side]):
            if number in self.shared[side]:
                continue
            kind = trace.nodes[number].kind
            total += STRANGE if kind in ("opaque", "input") and number in trace.values else kind in ("op", "write", "raised")
        return total

    def below(self, side: int) -> list[int]:
        """The target and the steps below it that have values and are not shared, with the shared ones that they read."""
        trace, target = (self.scene.reference, self.scene.port)[side], self.scene.targets[side]
        return [n for n in trace.cone(target, self.shared[side] - {target}) if n in trace.values]

    def comparable(self, a: int, b: int) -> bool:
        """False for a right value that the port puts through a wrong step: then the step is to blame, not the value.

        A value that both sides have may stand for a step of the other side only where both go on in the same way.
        """
        if a not in self.shared[0] and b not in self.shared[1] or (a, b) == self.scene.targets:
            return True
        return bool(self._consumers(0, a) & self._consumers(1, b))

    def _consumers(self, side: int, number: int) -> set[str]:
        """Names of the steps below the target that read a value."""
        trace = (self.scene.reference, self.scene.port)[side]
        below = trace.cone(self.scene.targets[side], self.shared[side] - {self.scene.targets[side]})
        nodes = [trace.nodes[n] for n in below if n != number]
        return {called(node.text) for node in nodes if number in map(trace.plainly, node.operands)}


def called(text: str) -> str:
    """What a step does, in a word: ``mean`` of ``paddle.mean(x, axis=1)`` and of ``x.mean(1)``; an operator as it is."""
    before, bracket, _ = text.partition("(")
    return before.rpartition(".")[2].lower() if bracket else text


def label(trace: Trace, number: int) -> str:
    """What the source calls a step."""
    return trace.nodes[number].name or trace.nodes[number].label


def find(scene: Scene, oracle: Oracle) -> Pair:
    """The smallest pair whose repair repairs the unit; the whole difference if there is none.

    Raises:
        Impossible: if the difference cannot be spelled.
    """
    matching = Matching(scene)
    if scene.error:
        return close_pair(scene, matching, _counterpart(scene, matching), scene.targets[1])
    trials = 0
    for a, b in _candidates(scene, matching):
        if (a, b) == scene.targets:
            break
        trials += 1
        if trials > TRIALS:
            break
        if _repairs(scene, matching, oracle, a, b) and _holds(scene, matching, oracle, a, b):
            return close_pair(scene, matching, a, b)
    if not _holds(scene, matching, oracle, *scene.targets):
        raise Impossible("its text alone does not give the values that the models compute")
    return close_pair(scene, matching, *scene.targets)


def _candidates(scene: Scene, matching: Matching) -> Iterator[tuple[int, int]]:
    """Pairs of differing steps, the cheapest first, later ones before earlier ones among equals."""
    left = [(matching.cost(0, n), n) for n in matching.below(0)]
    right = [(matching.cost(1, n), n) for n in matching.below(1)]
    pairs = [
        (p + q, -b, -a, a, b) for p, a in left for q, b in right
        if not (a in matching.shared[0] and b in matching.shared[1])
        and not close(scene.reference.values[a], scene.port.values[b]) and matching.comparable(a, b)
    ]
    for _, _, _, a, b in sorted(pairs):
        yield a, b
    yield scene.targets


def _repairs(scene: Scene, matching: Matching, oracle: Oracle, a: int, b: int) -> bool:
    """True if the port's target becomes right with the reference's value of `a` in place of `b`."""
    due, wrong = scene.reference.values[scene.targets[0]], scene.port.values[scene.targets[1]]
    if b == scene.targets[1]:
        return close(scene.reference.values[a], due)
    whole = close_pair(scene, matching, scene.targets[0], scene.targets[1], {b: scene.reference.values[a]})
    try:
        function = spell(scene.port, scene.targets[1], whole.names[1])
    except Unspelled:
        return False
    result = oracle.run(1, function, whole.inputs)
    return result.value is not None and near(due, result.value, wrong)


def near(due: np.ndarray, value: np.ndarray, wrong: np.ndarray) -> bool:
    """Equal up to rounding, or to a small share of the fault where steps amplify rounding."""
    if close(due, value):
        return True
    alike = due.shape == value.shape and due.dtype == value.dtype
    return alike and gap(due, value) <= (SHARE * gap(due, wrong) if due.shape == wrong.shape else SHARE)


def _holds(scene: Scene, matching: Matching, oracle: Oracle, a: int, b: int) -> bool:
    """True if the texts of a pair give the values that the models computed."""
    pair = close_pair(scene, matching, a, b)
    right, wrong = scene.reference.values[a], scene.port.values[b]
    for side, due, other in ((0, right, wrong), (1, wrong, right)):
        result = oracle.run(side, spelled(scene, pair, side), pair.inputs)
        if result.value is None or not near(due, result.value, other):
            return False
    return True


def spelled(scene: Scene, pair: Pair, side: int, scale=lambda value: value) -> Function:
    """The body of one side of a pair."""
    return spell((scene.reference, scene.port)[side], pair.roots[side], pair.names[side], scale)


def close_pair(scene: Scene, matching: Matching, a: int, b: int, repaired: dict[int, np.ndarray] = {}) -> Pair:
    """Give names and values to what a pair is computed from.

    Args:
        scene, matching: both sides.
        a, b: the roots.
        repaired: step of the port -> value that is put in its place.

    Raises:
        Impossible: if a step without a text has no value either.
    """
    both = a in matching.shared[0] and b in matching.shared[1]
    traces = (scene.reference, scene.port)
    taken = {*BESIDE, *(name for trace in traces for node in trace.nodes for name in node.uses)}
    pair = Pair((a, b), ({}, {}), {})
    known: dict[int, str] = {}
    for side, trace in enumerate(traces):
        changed = repaired if side else {}
        for number in _leaves(trace, pair.roots[side], matching.shared[side], set(changed), both):
            shared = number in matching.shared[side] and number not in changed
            partner = (matching.partner[number] if side else number) if shared else -1
            if partner not in known:
                value = changed.get(number, traces[0].values[partner] if shared else trace.values.get(number))
                if value is None:
                    raise Impossible(f"{label(trace, number) or 'a value'} at line {trace.nodes[number].line} has no text")
                name = _named(pair, _wishes(traces, matching, side, number, partner), taken, value)
                if shared:
                    known[partner] = name
            pair.names[side][number] = known[partner] if shared else name
    if not repaired:
        _spread(pair, traces, matching)
    return pair


def _wishes(traces: tuple[Trace, Trace], matching: Matching, side: int, number: int, partner: int) -> list[str]:
    """Names for an input, the best first: the reference's word for it, the port's, that of what it is made from."""
    if partner < 0:
        return [label(traces[side], number), below(traces[side], number)]
    twin = number if side else next((p for p, r in matching.partner.items() if r == partner), -1)
    return [label(traces[0], partner), label(traces[1], twin) if twin >= 0 else "", below(traces[0], partner)]


def _spread(pair: Pair, traces: tuple[Trace, Trace], matching: Matching) -> None:
    """Spell a root that is handed through if it is one step on inputs that the pair has anyway."""
    for side in (0, 1):
        root, trace = pair.roots[side], traces[side]
        if root not in pair.names[side] or trace.nodes[root].kind != "op":
            continue
        operands = [n for n in map(trace.plainly, trace.nodes[root].operands) if n in trace.values]
        shared = {matching.partner.get(n) if side else n for n in operands}
        known = dict(pair.names[0])
        if operands and all(n in known and n != pair.roots[0] for n in shared):
            name = pair.names[side].pop(root)
            pair.names[side].update({n: known[matching.partner[n] if side else n] for n in operands})
            if name not in (*pair.names[0].values(), *pair.names[1].values()):
                del pair.inputs[name]


def _leaves(trace: Trace, root: int, shared: frozenset[int], repaired: set[int], both: bool) -> list[int]:
    """The steps that have to be given: shared ones, and tensors without a text."""
    cut = {*shared, *repaired}
    if both:
        cut.discard(root)
    found = []
    for number in trace.cone(root, cut, through=both):
        if number in cut or number in trace.values and trace.nodes[number].kind in ("opaque", "input"):
            found.append(number)
    return found


def _named(pair: Pair, wishes: list[str], taken: set[str], value: np.ndarray) -> str:
    wishes = [wish for wish in wishes if wish]
    name = free(next((wish for wish in wishes if wish not in taken), wishes[0] if wishes else "x"), taken)
    pair.inputs[name] = value
    return name


def below(trace: Trace, number: int) -> str:
    """What the source calls the nearest value that a step is made from."""
    while trace.nodes[number].operands:
        number = trace.nodes[number].operands[0]
        if label(trace, number):
            return label(trace, number)
    return ""


def _counterpart(scene: Scene, matching: Matching) -> int:
    """The step of the reference that answers to the one that raises: it reads the same values, and the port has none
    like it; the first such, of the same name if there is one."""
    raised = scene.port.nodes[scene.targets[1]]
    given = {matching.partner.get(scene.port.plainly(n)) for n in raised.operands} - {None}
    last = raised.text.split("(")[0].rpartition(".")[2]
    choices = [
        n for n, node in enumerate(scene.reference.nodes)
        if n in scene.reference.values and node.kind == "op" and given & {scene.reference.plainly(o) for o in node.operands}
        and n not in matching.shared[0]
    ]
    if not choices:
        raise Impossible("no step of the reference answers to the one that raises")
    return min(choices, key=lambda n: (scene.reference.nodes[n].text.split("(")[0].rpartition(".")[2] != last, n))
