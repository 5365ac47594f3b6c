"""Case, outcomes -> Diagnosis: why, and whose fault.

A cause counts only if its experiment predicted something and saw it. Each rule is one file in `rules/` with

    CAUSE: its name
    SENTENCE: what it means, for the report
    WEIGHT: how much its experiments say; of two confirmed causes the heavier one is named
    FLAKY: True if its experiments hold for a divergence that is not there in every run (optional); others are not asked
        about one, for they would take luck for a cure
    IMPLIED_BY: causes that say the same and more; it is silent if one of them is confirmed (optional)
    probes(scene) -> probes, of which the first decides if the cause is a candidate at all; none if it cannot apply

Otherwise the report says ``unexplained`` and lists what was ruled out. A divergence that is a documented difference
between two frameworks is a convention (`conventions`): it has a source and a line to change, and is nobody's bug.
Neither is a narrower format that the user can switch off (`settings`).
"""

from __future__ import annotations

import msgspec

from minrepro import registry
from minrepro.diagnose.conventions import convention
from minrepro.diagnose.scene import Scene
from minrepro.diagnose.settings import setting
from minrepro.ir.reduction import Diagnosis

__all__ = ["UNEXPLAINED", "Scene", "causes", "convention", "diagnose", "legal", "setting"]

UNEXPLAINED = "unexplained"
"""The cause of a divergence that no rule predicts."""


def diagnose(scene: Scene) -> Diagnosis:
    """The convention that predicts it; else the confirmed cause that says most."""
    known = convention(scene) if scene.rate is None else None
    if known is not None:
        return known
    confirmed, ruled_out = causes(scene)
    if confirmed:
        best = max(confirmed, key=lambda found: (_rules()[found.cause].WEIGHT, len(found.probes)))
        return msgspec.structs.replace(best, ruled_out=ruled_out)
    sentence = f"the {scene.divergence.side} side is wrong and no known cause predicts how"
    if scene.divergence.side == "both":
        sentence = "both sides are wrong, each in its own way, and no known cause predicts how"
    if scene.divergence.side == "unknown":
        sentence = "the sides differ, and float64 does not settle which one is wrong"
    return Diagnosis(UNEXPLAINED, scene.divergence.side, sentence, (), ruled_out)


def legal(scene: Scene) -> Diagnosis | None:
    """The documented difference or the setting that explains a divergence, so that it is nobody's bug; None if none."""
    return convention(scene) or setting(scene)


def causes(scene: Scene) -> tuple[list[Diagnosis], tuple[str, ...]]:
    """Every cause whose probes were all confirmed, and the names of those that failed one."""
    confirmed, ruled_out = [], []
    for name, module in _rules().items():
        if scene.rate is not None and not getattr(module, "FLAKY", False):
            continue
        probes = []
        for probe in module.probes(scene):
            probes.append(probe)
            if not probe.confirmed:
                ruled_out.append(name)
                break
        else:
            if probes:
                confirmed.append(Diagnosis(name, scene.divergence.side, module.SENTENCE, tuple(probes)))
    names = {found.cause for found in confirmed}
    said = [found for found in confirmed if not names & set(getattr(_rules()[found.cause], "IMPLIED_BY", ()))]
    return said, tuple(ruled_out)


def _rules() -> dict[str, object]:
    """The rules by cause."""
    found = sorted(registry.modules("minrepro.diagnose.rules"), key=lambda module: module.__name__)
    return {module.CAUSE: module for module in found}
