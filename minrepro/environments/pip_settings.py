"""What the user told pip, said to uv.

uv reads nothing of pip's configuration, so an index, a folder of wheels, a constraint or a certificate that every
`pip install` of this user relies on would be ignored. This module reads pip's files and variables in pip's own order
and turns them into uv's arguments. What the user told uv itself about the same thing stands.

Source: pip's documentation, "Configuration"; uv's, "Environment variables" and "Compatibility with pip".
"""

from __future__ import annotations

import configparser
import os
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

URL_MARKS = ("://", "file:")

# Thing -> uv's own variables and settings-file keys for it.
UV_NAMES: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "default-index": (("UV_DEFAULT_INDEX", "UV_INDEX_URL"), ("index-url", "index")),
    "index": (("UV_INDEX", "UV_EXTRA_INDEX_URL"), ("extra-index-url", "index")),
    "find-links": (("UV_FIND_LINKS",), ("find-links",)),
    "no-index": (("UV_NO_INDEX",), ("no-index",)),
    "index-strategy": (("UV_INDEX_STRATEGY",), ("index-strategy",)),
    "allow-insecure-host": (("UV_INSECURE_HOST",), ("allow-insecure-host",)),
}


class PipSettings(msgspec.Struct, frozen=True):
    """The part of pip's configuration that decides what is installed and from where."""

    index_url: str = ""
    extra_index_urls: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    trusted_hosts: tuple[str, ...] = ()
    no_index: bool = False
    cert: str = ""
    proxy: str = ""
    timeout: str = ""


def files(environ: Mapping[str, str]) -> tuple[Path, ...]:
    """pip's configuration files, weakest first."""
    named = environ.get("PIP_CONFIG_FILE", "")
    if named == os.devnull:
        return ()
    home = Path(environ.get("HOME") or Path.home())
    shared = [Path(folder) / "pip" / "pip.conf" for folder in _folders(environ.get("XDG_CONFIG_DIRS"), "/etc/xdg")]
    own = [home / ".pip" / "pip.conf", Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "pip" / "pip.conf"]
    site = [Path(sys.prefix) / "pip.conf"]
    # A named file takes the place of the user's own.
    return (*shared, Path("/etc/pip.conf"), *([] if named else own), *site, *([Path(named)] if named else []))


def _folders(value: str | None, default: str) -> list[str]:
    return [part for part in (value or default).split(os.pathsep) if part]


def read(environ: Mapping[str, str] = os.environ, paths: Sequence[Path] | None = None) -> PipSettings:
    """Read pip's settings.

    Args:
        environ: the variables to read (``PIP_INDEX_URL`` and so on, which are stronger than any file).
        paths: configuration files, weakest first; default: those that pip reads.

    Returns:
        The settings; paths in them are absolute. A file that cannot be parsed is passed over, as it is not ours to mend.
    """
    sections: dict[str, dict[str, str]] = {"global": {}, "install": {}}
    for path in files(environ) if paths is None else paths:
        parser = configparser.RawConfigParser()
        try:
            parser.read(path, encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError):
            continue
        for name, values in sections.items():
            if parser.has_section(name):
                values.update({_key(key): value for key, value in parser.items(name) if value})
    variables = {_key(name[4:]): value for name, value in environ.items() if name.startswith("PIP_") and value}
    return _settings({**sections["global"], **sections["install"], **variables})


def _key(name: str) -> str:
    return name.lower().replace("_", "-")


def _settings(values: Mapping[str, str]) -> PipSettings:
    places = {key: tuple(_place(part) for part in values.get(key, "").split()) for key in ("find-links", "constraint")}
    return PipSettings(
        index_url=values.get("index-url", values.get("pypi-url", "")),
        extra_index_urls=tuple(values.get("extra-index-url", "").split()),
        find_links=places["find-links"],
        constraints=places["constraint"],
        trusted_hosts=tuple(values.get("trusted-host", "").split()),
        no_index=values.get("no-index", "").lower() in ("1", "true", "yes", "on", "y", "t"),
        cert=_place(values["cert"]) if values.get("cert") else "",
        proxy=values.get("proxy", ""),
        timeout=values.get("timeout", values.get("default-timeout", "")),
    )


def _place(text: str) -> str:
    """A path as an absolute one (uv is run in another folder), an address as it is."""
    return text if any(mark in text for mark in URL_MARKS) else os.path.abspath(os.path.expanduser(text))


def told_to_uv(environ: Mapping[str, str] = os.environ, paths: Sequence[Path] | None = None) -> frozenset[str]:
    """The things that the user set for uv itself, by variable or in uv's user and system settings."""
    if paths is None:
        home = Path(environ.get("HOME") or Path.home())
        named = environ.get("UV_CONFIG_FILE")
        user = Path(environ.get("XDG_CONFIG_HOME") or home / ".config") / "uv" / "uv.toml"
        paths = (Path(named),) if named else (Path("/etc/uv/uv.toml"), user)
    keys: set[str] = set()
    for path in () if environ.get("UV_NO_CONFIG") else paths:
        try:
            content = tomllib.loads(path.read_text())
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
            continue
        keys.update(content, content.get("pip", {}))
    return frozenset(
        thing
        for thing, (variables, names) in UV_NAMES.items()
        if any(environ.get(variable) for variable in variables) or any(name in keys for name in names)
    )


def uv_arguments(settings: PipSettings, told: frozenset[str] = frozenset()) -> list[str]:
    """uv's arguments for what pip was told.

    Args:
        settings: from `read`.
        told: from `told_to_uv`; what is in it is left to uv.
    """
    wanted: list[tuple[str, Sequence[str]]] = [
        ("default-index", [settings.index_url] if settings.index_url else []),
        ("index", settings.extra_index_urls),
        ("find-links", settings.find_links),
        ("allow-insecure-host", settings.trusted_hosts),
        # pip takes the best version of all indexes; uv by default only looks into the first that has the name.
        ("index-strategy", ["unsafe-best-match"] if settings.extra_index_urls and "index" not in told else []),
    ]
    arguments = [
        part for thing, values in wanted if thing not in told for value in values for part in (f"--{thing}", value)
    ]
    return arguments + (["--no-index"] if settings.no_index and "no-index" not in told else [])


def uv_variables(settings: PipSettings, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Variables for uv that carry pip's certificate, proxy and timeout, where the user set none of their own."""
    wanted = {
        "SSL_CERT_FILE": settings.cert if os.path.isfile(settings.cert) else "",
        "SSL_CERT_DIR": settings.cert if os.path.isdir(settings.cert) else "",
        "HTTPS_PROXY": settings.proxy,
        "HTTP_PROXY": settings.proxy,
        "UV_HTTP_TIMEOUT": settings.timeout,
    }
    taken = {name.upper() for name, value in environ.items() if value}
    return {name: value for name, value in wanted.items() if value and name not in taken}
