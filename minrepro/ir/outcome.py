"""What one backend did with one program. A framework's failure is data; only our own faults are exceptions."""

from __future__ import annotations

import signal
from typing import Mapping, Union

import msgspec

from minrepro.ir.tensor import Tensor


class Completed(msgspec.Struct, frozen=True, tag="completed"):
    """It ran; the values of the program's outputs, with the layout that the framework gave them."""

    values: Mapping[str, Tensor]
    seconds: float = 0.0


class Raised(msgspec.Struct, frozen=True, tag="raised"):
    """It raised a Python exception.

    Attributes:
        kind: class name of the exception.
        message: its text.
        frame: ``module:function`` of the innermost framework frame, or ``""``.
        node: name of the node that raised, or ``""``.
    """

    kind: str
    message: str
    frame: str = ""
    node: str = ""


class Crashed(msgspec.Struct, frozen=True, tag="crashed"):
    """The process ended: by signal (``SIGSEGV``), or with an exit status before it answered.

    Attributes:
        signal: name of the signal, or ``exit N``.
        node: name of the node that ran last, or ``""``.
        log: last lines that the process wrote.
    """

    signal: str
    node: str = ""
    log: str = ""


class TimedOut(msgspec.Struct, frozen=True, tag="timed_out"):
    """No answer within the deadline, in seconds."""

    seconds: float
    node: str = ""


class Unspelled(msgspec.Struct, frozen=True, tag="unspelled"):
    """The backend has no spelling for a node; `why` names operator and arguments."""

    why: str
    node: str = ""


Outcome = Union[Completed, Raised, Crashed, TimedOut, Unspelled]

OUTSIDE = ("SIGKILL", "memory limit", "no session")
"""Ends of a process that come from outside and say nothing about the framework: killed by a person, by the kernel for
memory or by our own limit; or the session was gone already."""


def from_outside(outcome: Outcome) -> bool:
    """True if the evaluation was ended from outside, so that it has to be asked again or stays unresolved."""
    return isinstance(outcome, Crashed) and outcome.signal in OUTSIDE


def signal_name(status: int) -> str:
    """How a process ended, from its exit status as `subprocess` gives it."""
    if status < 0:
        return next((s.name for s in signal.Signals if s == -status), f"signal {-status}")
    return f"exit {status}"
