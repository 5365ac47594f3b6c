"""Where the files that travel with the program are: `templates/` and the shipped `corpus/`.

In the source tree they stand beside the package, in an installed wheel inside it, under `minrepro/shipped/`.
"""

from __future__ import annotations

from pathlib import Path

from minrepro.errors import InternalError

PACKAGE = Path(__file__).resolve().parent.parent


def folder(name: str, package: Path = PACKAGE) -> Path:
    """The folder ``templates`` or ``corpus``.

    Args:
        name: its name.
        package: folder of the package `minrepro`.

    Raises:
        InternalError: if the installation lacks it.
    """
    places = (package / "shipped" / name, package.parent / name)
    for place in places:
        if place.is_dir():
            return place
    raise InternalError(f"the folder {name!r} is in neither {places[0]} nor {places[1]}; reinstall minrepro")
