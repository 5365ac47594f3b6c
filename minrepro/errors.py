"""What minrepro itself can raise; a framework's failure is data (`ir.outcome`), never one of these.

    MinreproError
    |-- UsageError            the user can mend it: a wrong option, model, input or file     (exit 2)
    |   `-- CaptureError      the model cannot be captured; names the module and source line
    |-- BackendMissing        no interpreter has this framework; says the command to add it  (exit 4)
    |-- Unsupported           an operator has no spelling on a backend                       (exit 2)
    |-- Interrupted           somebody pressed Ctrl-C; says what was kept                    (exit 130)
    |-- WorkerError           the worker broke its protocol                                  (exit 3)
    |   `-- SessionLost       the process that held the model is gone; its values with it    (exit 3)
    `-- InternalError         an invariant of ours does not hold                             (exit 3)

Each message says what was expected, what was found and what to do next.
"""

from __future__ import annotations


class MinreproError(Exception):
    """Root of our exceptions; `exit_status` is what the command line ends with."""

    exit_status = 3


class UsageError(MinreproError):
    """Something the user gave is wrong, and the message says how to mend it."""

    exit_status = 2


class CaptureError(UsageError):
    """The model could not be captured."""


class BackendMissing(MinreproError):
    """No environment holds the framework that was asked for."""

    exit_status = 4


class Unsupported(MinreproError):
    """An operator, or these arguments of it, have no spelling on a backend."""

    exit_status = 2


class Interrupted(MinreproError):
    """The user ended the run; the message says what there is of it and how to go on."""

    exit_status = 130


class WorkerError(MinreproError):
    """The worker process broke its protocol; a framework crash is an `Outcome` instead."""


class SessionLost(WorkerError):
    """The process that held the model ended, and everything it had computed is gone; the capture can be repeated."""


class InternalError(MinreproError):
    """An invariant of minrepro does not hold."""
