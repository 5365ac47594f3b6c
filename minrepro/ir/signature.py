"""The identity of a bug: fixed before shrinking, so that the reducer never slides into another one."""

from __future__ import annotations

import re

import msgspec

BANDS = (8.0, 64.0)
"""Bands of the error ratio over its bound: up to 8, up to 64, above (reduction.md, section 9). A variant may not
fall below the start's band or the third one, whichever is lower, or value shrinking hugs the tolerance."""


class Signature(msgspec.Struct, frozen=True):
    """What has to stay the same.

    Attributes:
        symptom: see `ir.divergence.SYMPTOMS`.
        side: who is wrong.
        ops: the operators of the program, without repetition, in order.
        kind: exception class or signal, or ``""``.
        message: normalised exception text.
        frame: innermost framework frame of an exception.
    """

    symptom: str
    side: str
    ops: tuple[str, ...] = ()
    kind: str = ""
    message: str = ""
    frame: str = ""

    def __str__(self) -> str:
        extra = f" {self.kind}" if self.kind else ""
        return f"{self.symptom}{extra} on the {self.side} side in {', '.join(self.ops)}"


_NOISE = (
    (re.compile(r"\x1b\[[0-9;]*m"), ""),
    (re.compile(r"0x[0-9a-fA-F]+"), "ADDRESS"),
    (re.compile(r"(/[\w.+-]+){2,}"), "PATH"),
    (re.compile(r"[-+]?\d+(\.\d+)?([eE][-+]?\d+)?"), "N"),
    (re.compile(r"\[\s*(N(,\s*)?)*\]|\(\s*(N(,\s*)?)*\)"), "[N]"),
    (re.compile(r"\s+"), " "),
)


def normalise(message: str) -> str:
    """Remove what varies between runs and sizes from an exception's text: colours, addresses, paths, numbers, shapes.

    >>> normalise("expected shape [2, 3] but got [4] at 0x7f00aa")
    'expected shape [N] but got [N] at ADDRESS'
    """
    for pattern, replacement in _NOISE:
        message = pattern.sub(replacement, message)
    return message.strip()[:300]
