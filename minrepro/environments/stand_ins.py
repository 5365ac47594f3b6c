"""Small shared libraries that stand in for large ones which are linked but never called.

A loader wants every library that a program names and every function that it binds, not that the functions work. A
stand-in defines exactly those functions; each says its name and aborts, so that a call can never give a wrong number.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from minrepro.errors import BackendMissing

# Declared here instead of included: a compiler without the C library's headers is enough.
HEAD = """\
extern long write(int, const void *, unsigned long);
extern void abort(void);
static void refuse(const char *text, unsigned long length) { write(2, text, length); abort(); }
int minrepro_stand_in;
"""


def can_compile() -> bool:
    """True if the compiler and the symbol lister are here."""
    return all(shutil.which(tool) for tool in ("gcc", "nm"))


def wanted(libraries: Iterable[Path], prefixes: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """The versioned functions that shared libraries expect from absent ones.

    Args:
        libraries: files to read.
        prefixes: how the names of the absent libraries start.

    Returns:
        Library name (``libcublas.so.11``) -> functions, both in order. The name is the symbols' version, which is how
        NVIDIA's libraries mark theirs.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for library in libraries:
        listed = _run(["nm", "-D", "--undefined-only", str(library)])
        for line in listed.splitlines():
            symbol, _, version = line.split()[-1].partition("@")
            if version.startswith(tuple(prefixes)):
                found[version].add(symbol)
    return {name: tuple(sorted(found[name])) for name in sorted(found)}


def source(symbols: Sequence[str]) -> str:
    """The C source of a stand-in."""
    functions = []
    for symbol in symbols:
        text = f"minrepro: {symbol} was called, but this environment is for the CPU only\\n"
        functions.append(f'void {symbol}(void) {{ static const char t[] = "{text}"; refuse(t, sizeof t - 1); }}\n')
    return HEAD + "".join(functions)


def compile_library(target: Path, symbols: Sequence[str]) -> None:
    """Compile a stand-in whose name and symbol version are the file's name.

    Raises:
        BackendMissing: if the compiler fails; the message has its output.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        code, versions = Path(folder, "stand_in.c"), Path(folder, "versions.map")
        code.write_text(source(symbols))
        versions.write_text(f"{target.name} {{ global: *; }};\n")
        flags = ["-shared", "-fPIC", "-nostdlib", f"-Wl,-soname,{target.name}", f"-Wl,--version-script={versions}"]
        _run(["gcc", *flags, "-o", str(target), str(code)])


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, check=False, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise BackendMissing(
            f"{command[0]} failed ({done.returncode}) while a stand-in library was made:\n{done.stderr[-2000:]}\n"
            "Mend the compiler, or take it off PATH: then the real libraries are downloaded"
        )
    return done.stdout
