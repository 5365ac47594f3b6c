"""Makes an environment: lock, plan, install beside, check, rename into place.

Whatever interrupts it, the cache holds a complete environment or none: the work lies in a folder whose name starts with
a dot, which the next creation deletes, and it gets its real name only after its framework was imported and computed
a product.
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import filelock
import msgspec

from minrepro.backends import Backend, Spec
from minrepro.environments import installer, pythons, recipes, store
from minrepro.environments.recipes import Say, Variant
from minrepro.environments.store import Environment
from minrepro.errors import BackendMissing, UsageError

CHECK = """
import json
{imports}
a = {literal}
product = {product}
print()
print(json.dumps(product.tolist()))
"""


class Plan(msgspec.Struct, frozen=True):
    """What will be installed: the base interpreter, the way, the exact packages."""

    python: str
    minor: str
    variant: Variant
    packages: tuple[str, ...]


def create(spec: Spec, *, say: Say = print) -> Environment:
    """Make the environment that a spec asks for, or find it made.

    Args:
        spec: backend and version; its interpreter, if given, is the Python to build on.
        say: takes one line of progress at a time.

    Raises:
        UsageError: if the interpreter that was asked for does not suit the framework.
        BackendMissing: if the environment cannot be made; the message ends with what to do.
    """
    folder = store.cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    version = recipes.wanted_version(spec)
    python, minor = _asked_python(spec)
    with _lock(folder / f".lock-{spec.name}-{version}", say):
        made = find(spec.name, version, minor)
        if made is not None:
            say(f"{made.name} is already there")
            return made
        _sweep(folder, f".making-{spec.name}-{version}")
        log = installer.Log(folder / ".logs" / f"{spec.name}-{version}.log", say)
        with tempfile.TemporaryDirectory(prefix=f".making-{spec.name}-{version}-", dir=folder) as work:
            uv = installer.uv_path()
            tool = installer.Uv(uv, log, Path(work)) if uv else installer.Pip(log, Path(work))
            try:
                return _make(spec, version, tool, log, python, minor)
            except installer.Failed as failure:
                raise _failed(spec, log, failure) from None


def find(backend: str, version: str, minor: str = "") -> Environment | None:
    """The environment of the cache for a backend and version (and Python); the newest if several fit."""
    fit = [
        made
        for made in store.listing()
        if made.backend == backend
        and store.same_version(version or made.version, made.version)
        and made.name.endswith(f"-py{minor}" if minor else "")
    ]
    return max(fit, key=lambda made: os.path.getmtime(os.path.join(made.folder, store.RECORD)), default=None)


def _asked_python(spec: Spec) -> tuple[str, str]:
    """Base interpreter and minor version that a spec names; empty strings if it names none."""
    if not spec.interpreter:
        return "", ""
    base = pythons.probe(spec.interpreter)
    found = pythons.installed(base) if base else None
    if found is None:
        raise UsageError(f"{spec.interpreter} is not a CPython that runs; give the full path of one")
    if not pythons.admits(spec.backend.python, found.minor):
        raise UsageError(_no_python(spec.backend, f"{spec.interpreter} is Python {found.minor}"))
    return base, found.minor


def _no_python(backend: Backend, found: str) -> str:
    refusal = recipes.find(backend).refusal
    wanted = recipes.pythons(backend)
    return (
        f"{backend.title} needs Python {backend.python}{' (' + refusal + ')' if refusal else ''}, but {found}. "
        f"Install one, for example with `uv python install {wanted[0] if wanted else backend.python}`, and run again"
    )


@contextmanager
def _lock(path: Path, say: Say) -> Iterator[None]:
    """Hold a lock file, which the system lets go of when its holder dies."""
    lock = filelock.FileLock(path)
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        say("another minrepro is making this environment; waiting for it")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _sweep(folder: Path, prefix: str) -> None:
    """Delete what interrupted creations and removals left; the lock says that nobody works on it."""
    for path in folder.iterdir():
        if path.name.startswith((prefix + "-", ".removing-")):
            shutil.rmtree(path, ignore_errors=True)


def _make(
    spec: Spec, version: str, tool: installer.Uv | installer.Pip, log: installer.Log, python: str, minor: str
) -> Environment:
    say, started = log.say, time.monotonic()
    plan = _plan(spec, version, tool, say, python, minor)
    folder = store.cache_folder()
    _announce(spec, plan, folder, say)
    making = folder / f".making-{spec.name}-{version}-{uuid.uuid4().hex[:8]}"
    try:
        tool.make(plan.python, making, plan.variant, plan.packages)
        if plan.variant.finish is not None:
            plan.variant.finish(next(making.glob("lib/python*/site-packages")), say)
        say("checking that it imports and computes")
        _check(spec, making, log)
        packages = pythons.installed(str(making / "bin" / "python")).packages
        found = packages[spec.backend.package.lower()]
        name = f"{spec.name}-{found}-py{plan.minor}"
        made = Environment(name, spec.name, found, "", "", packages, store.size_bytes(making))
        store.write(made, making)
        store.place(making, folder / name)
    finally:
        shutil.rmtree(making, ignore_errors=True)
    say(f"made {name} in {time.monotonic() - started:.1f} s, {human_size(made.bytes)}")
    return store.read(folder / name)


def _plan(spec: Spec, version: str, tool: installer.Uv | installer.Pip, say: Say, python: str, minor: str) -> Plan:
    """The first combination of variant, Python and pins that the indexes can serve."""
    backend = spec.backend
    default = store.same_version(version, recipes.default_version(spec.name))
    variants = recipes.find(backend).variants
    ways = list(variants(version)) + ([] if spec.version or not version else list(variants("")))
    pins = recipes.pins().get(spec.name, ()) if default else ()
    failures, tried = [], {}
    for variant, limits in itertools.product(ways, (pins, ()) if pins else ((),)):
        for label, path in [(minor, python)] if python else _interpreters(backend, tool):
            tried[label] = path
            try:
                packages = tool.solve(path, variant, limits)
            except installer.Failed as failure:
                failures.append(failure)
                continue
            if variant.note:
                say(f"note: {variant.note}")
            if limits != pins:
                say("note: not all pinned versions are offered; taking the newest that fit together")
            return Plan(path, label, variant, tuple(packages))
    # The first failure is about the combination that was wanted most.
    why = f"no index offers {backend.package} {version} for Python {', '.join(tried)}"
    raise installer.Failed(why, failures[0].output)


def _interpreters(backend: Backend, tool: installer.Uv | installer.Pip) -> Iterator[tuple[str, str]]:
    """Minor versions with an interpreter, preferred first; each is looked for when it is needed.

    Raises:
        BackendMissing: if there is none and none can be fetched.
    """
    wanted, found = recipes.pythons(backend), False
    for minor in wanted:
        path = pythons.find(minor, tool.find_python)
        if path is not None:
            found = True
            yield minor, path
    if not found:
        path = tool.fetch_python(wanted[0]) if wanted else None
        if path is None:
            raise BackendMissing(_no_python(backend, "none was found"))
        yield wanted[0], path


def _announce(spec: Spec, plan: Plan, folder: Path, say: Say) -> None:
    """Say what is about to be downloaded, and stop if the disk cannot take it."""
    variant, title = plan.variant, spec.backend.title
    sizes = "of unknown size"
    if variant.installed_bytes:
        sizes = f"about {human_size(variant.download_bytes)} to download, {human_size(variant.installed_bytes)} on disk"
    say(f"{title}: {len(plan.packages)} package(s), {sizes}, for Python {plan.minor} in {folder}")
    free = shutil.disk_usage(folder).free
    if free < variant.installed_bytes:
        raise BackendMissing(
            f"{title} needs {human_size(variant.installed_bytes)} in {folder}, which has {human_size(free)} free. "
            "Make room, or set MINREPRO_CACHE to a folder on another disk, and run again"
        )


def _check(spec: Spec, folder: Path, log: installer.Log) -> None:
    """Import the framework and multiply two matrices.

    Raises:
        Failed: if it does not import, or the product is wrong.
    """
    backend = spec.backend
    literal = backend.style["literal"].format(data="[[1.0, 2.0], [3.0, 4.0]]", dtype=backend.dtypes["float32"])
    product = backend.style["to_numpy"].format(tensor="(a @ a)")
    script = CHECK.format(imports="\n".join(backend.imports.values()), literal=literal, product=product)
    command = [str(folder / "bin" / "python"), "-I", "-W", "ignore", "-c", script]
    log.add("$ import " + backend.module)
    done = subprocess.run(
        command,
        capture_output=True,
        check=False,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        cwd=folder,
        env=pythons.clean_environment(),
    )
    log.add(done.stderr + done.stdout)
    tail = "\n".join(done.stderr.splitlines()[-15:])
    if done.returncode != 0:
        raise installer.Failed(f"{backend.title} was installed but does not run (status {done.returncode})", tail)
    product = json.loads(done.stdout.strip().splitlines()[-1])
    if product != [[7.0, 10.0], [15.0, 22.0]]:
        raise installer.Failed(f"{backend.title} computes {product} for [[1, 2], [3, 4]] squared", tail)


def _failed(spec: Spec, log: installer.Log, failure: installer.Failed) -> BackendMissing:
    output = "".join(f"    {line}\n" for line in failure.output.splitlines())
    return BackendMissing(
        f"{failure}:\n{output}Everything that was run is in {log.path}. Check the version, the network and the pip or uv "
        f"settings (index, find-links, constraints), then run again:\nminrepro env create {command_spec(spec)}"
    )


def command_spec(spec: Spec) -> str:
    """A spec as `minrepro env create` takes it, with the version written out."""
    version = recipes.wanted_version(spec)
    return spec.name + (f"=={version}" if version else "")


def human_size(count: int) -> str:
    return f"{count / 1e9:.2f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"
