"""What the user asked for: the options of a run, their defaults, and how they are kept with it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from minrepro import replays
from minrepro.backends import parse
from minrepro.errors import UsageError
from minrepro.ir import codec

DEFAULT_REPLAY = "torch+replay:flat-copy"
"""Candidate of ``--model mixer`` without ``--candidate``: the founding bug can only be replayed today."""
OPTIONS = "options.json"
"""What a run was started with, so that ``--resume`` needs nothing but the folder."""


class Options(msgspec.Struct, frozen=True):
    """What the user asked for; `model` is empty for a run that starts at a case."""

    model: str
    candidate: str = ""
    reference: str = "torch"
    inputs: tuple[str, ...] = ()
    modes: tuple[str, ...] = ("load", "forward")
    seed: int = 0
    rung: str = "auto"
    train: bool = False
    threads: int = 1
    deadline_s: float = 60.0
    max_queries: int | None = None
    max_seconds: float | None = None
    runs: int = 3
    site: int = 0


def stored_options(folder: Path) -> Options:
    """The options that a run was started with.

    Raises:
        UsageError: if the folder holds no run.
    """
    path = folder / OPTIONS
    if not path.is_file():
        raise UsageError(f"expected a run folder with {OPTIONS}, found none in {folder}; start a new run with --model")
    return codec.decode(path.read_bytes(), Options)


def resolve_candidate(model: str, candidate: str) -> str:
    """The candidate's spec; the founding case has a default, every other model needs one.

    Raises:
        UsageError: if there is none.
    """
    if candidate:
        return str(parse(candidate))
    if model in ("mixer", "mixer_b16", "mixer_tiny"):
        return DEFAULT_REPLAY
    raise UsageError("expected --candidate, for example: --candidate paddle (or oneflow, torch==2.12.0)")


def replay_notice(candidate: str) -> str | None:
    """The line that says that a run replays a historical bug, or None."""
    spec = parse(candidate)
    if not spec.replay:
        return None
    known = replays.find(spec.replay)
    return f"REPLAY of a historical bug, not a live one: {known.title} ({known.history})"
