"""The two programs that can install packages: uv, and pip where uv is missing.

Both are given full interpreter paths, write bytecode (without it a framework's import takes three times as long) and build
old source packages with a setuptools that still has `pkg_resources`. Every command and its output go to one log.
"""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from pathlib import Path

from minrepro.environments import pip_settings
from minrepro.environments.pythons import clean_environment
from minrepro.environments.recipes import Say, Variant

# Lines of uv's and pip's that tell a person nothing new; the log has them.
QUIET = ("+ ", "Using ", "Resolved ", "Looking in ", "WARNING: Location ")
BUILD_CONSTRAINTS = "setuptools<81\n"


class Failed(Exception):
    """A command failed; `output` is the end of what it wrote."""

    def __init__(self, why: str, output: str = ""):
        super().__init__(why)
        self.output = output


def uv_path() -> str | None:
    """The uv binary: that of the `uv` package, else the one on PATH that runs."""
    try:
        import uv

        return uv.find_uv_bin()
    except (ImportError, FileNotFoundError):
        pass
    found = shutil.which("uv")
    # A version manager's shim is found but does not run.
    works = (
        found
        and subprocess.run([found, "--version"], capture_output=True, check=False, stdin=subprocess.DEVNULL).returncode
        == 0
    )
    return found if works else None


class Log:
    """A file that takes every command and its output."""

    def __init__(self, path: Path, say: Say):
        self.path, self.say = path, say
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")

    def add(self, text: str) -> None:
        """Append a line; credentials in addresses are masked."""
        with self.path.open("a") as file:
            file.write(re.sub(r"://[^@/\s]+@", "://***@", text) + "\n")

    def run(self, command: Sequence[str], environment: dict[str, str], folder: Path, talk: bool = False) -> None:
        """Run a command to its end.

        Args:
            command: program and arguments.
            environment: its variables.
            folder: where it runs: not where the user stands, whose project files are not about this environment.
            talk: pass its lines on to `say`.

        Raises:
            Failed: if it does not end with status 0.
        """
        self.add("$ " + " ".join(command))
        last: deque[str] = deque(maxlen=15)
        with subprocess.Popen(
            command,
            env=environment,
            cwd=folder,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            preexec_fn=_die_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509
        ) as process:
            try:
                for line in process.stdout:
                    self.add(line.rstrip())
                    last.append(line.rstrip())
                    if talk and line.strip() and not line.lstrip().startswith(QUIET):
                        self.say("  " + line.strip())
            except BaseException:
                process.kill()
                raise
        if process.returncode != 0:
            why = f"{Path(command[0]).name} {command[1]} ended with status {process.returncode}"
            raise Failed(why, "\n".join(last))


_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


def _die_with_parent() -> None:
    # Killed outright, minrepro must not leave an installer behind that writes on into a folder given up.
    _LIBC.prctl(1, signal.SIGKILL)


class Uv:
    """Installs with uv: solves first, so that it is known what comes before anything is downloaded."""

    def __init__(self, path: str, log: Log, work: Path):
        self.path, self.log, self.work = path, log, work
        settings = pip_settings.read()
        told = pip_settings.told_to_uv()
        self.indexes = pip_settings.uv_arguments(settings, told)
        # The argument replaces uv's own variable, so what that names is repeated.
        constraints = [*settings.constraints, *_files("UV_CONSTRAINT")]
        build = _write(work / "build-constraints.txt", BUILD_CONSTRAINTS)
        builds = [build, *_files("UV_BUILD_CONSTRAINT")]
        self.limits = [part for file in constraints for part in ("--constraints", file)]
        self.limits += [part for file in builds for part in ("--build-constraints", file)]
        self.environment = {**clean_environment(), **pip_settings.uv_variables(settings), "NO_COLOR": "1"}

    def find_python(self, minor: str) -> str | None:
        """A Python that uv knows or manages; nothing is downloaded."""
        for extra in ((), ("--managed-python",)):
            done = subprocess.run(
                [self.path, "python", "find", *extra, minor],
                capture_output=True,
                check=False,
                text=True,
                stdin=subprocess.DEVNULL,
                cwd=self.work,
                env=self.environment,
            )
            if done.returncode == 0 and done.stdout.strip():
                return done.stdout.strip()
        return None

    def fetch_python(self, minor: str) -> str | None:
        """Let uv download a Python, unless the user's setting forbids that."""
        if os.environ.get("UV_PYTHON_DOWNLOADS", "automatic") in ("never", "manual", "false", "0"):
            return None
        self.log.say(f"no Python {minor} here; asking uv to download one")
        try:
            self.log.run([self.path, "python", "install", minor], self.environment, self.work, talk=True)
        except Failed:
            return None
        return self.find_python(minor)

    def solve(self, python: str, variant: Variant, pins: Sequence[str]) -> list[str]:
        """The exact packages that a variant comes to.

        Raises:
            Failed: if the user's indexes cannot serve it.
        """
        wanted = _write(self.work / "wanted.txt", "\n".join(variant.requirements) + "\n")
        solved = self.work / "solved.txt"
        command = [self.path, "pip", "compile", wanted, "--python", python, "--no-header", "--no-annotate"]
        command += ["--output-file", str(solved), "--upgrade", *self._arguments(variant)]
        if pins:
            command += ["--constraints", _write(self.work / "pins.txt", "\n".join(pins) + "\n")]
        self.log.run(command, self.environment, self.work)
        return [line for line in solved.read_text().splitlines() if line and not line.startswith("#")]

    def make(self, python: str, folder: Path, variant: Variant, packages: Sequence[str]) -> None:
        """Make an environment and install solved packages into it.

        Raises:
            Failed: if uv fails.
        """
        listed = _write(self.work / "packages.txt", "\n".join(packages) + "\n")
        venv = [self.path, "venv", "--relocatable", "--no-project", "--python", python, str(folder)]
        self.log.run(venv, self.environment, self.work)
        # What was solved is complete: solving again could only come to something else.
        install = [self.path, "pip", "install", "--python", str(folder / "bin" / "python"), "--compile-bytecode"]
        install += ["--no-deps", "--requirements", listed, *self._arguments(variant)]
        self.log.run(install, self.environment, self.work, talk=True)

    def _arguments(self, variant: Variant) -> list[str]:
        return [*self.indexes, *self.limits, *variant.uv_arguments]


class Pip:
    """Installs with `venv` and pip, which reads its own configuration; the pinned versions are left to uv."""

    def __init__(self, log: Log, work: Path):
        self.log, self.work = log, work
        build = _write(work / "build-constraints.txt", BUILD_CONSTRAINTS)
        self.environment = {"PIP_BUILD_CONSTRAINT": build, **clean_environment()}

    def find_python(self, minor: str) -> str | None:
        """Nothing beyond what lies on this machine."""
        return None

    fetch_python = find_python

    def solve(self, python: str, variant: Variant, pins: Sequence[str]) -> list[str]:
        """The requirements themselves, if pip finds them; what they depend on is found when they are installed.

        Raises:
            Failed: if it cannot.
        """
        if variant.uv_arguments:
            raise Failed("only uv knows this way to install")
        command = [python, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--no-deps"]
        self.log.run([*command, *variant.requirements], self.environment, self.work)
        return [*variant.requirements]

    def make(self, python: str, folder: Path, variant: Variant, packages: Sequence[str]) -> None:
        """Make an environment and install into it.

        Raises:
            Failed: if `venv` or pip fails.
        """
        self.log.run([python, "-m", "venv", str(folder)], self.environment, self.work)
        command = [str(folder / "bin" / "python"), "-m", "pip", "install", "--progress-bar", "off"]
        self.log.run([*command, *packages], self.environment, self.work, talk=True)


def _files(variable: str) -> list[str]:
    # Relative to where the user stands, which is not where uv is run.
    return [os.path.abspath(part) for part in os.environ.get(variable, "").split()]


def _write(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)
