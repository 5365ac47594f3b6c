"""PyTorch for the CPU.

On Linux the plain package of the index brings CUDA libraries, about 3 GB that a CPU run never touches. The CPU build has
the local version ``+cpu`` and comes from a folder or index that the user configured, or from the one that uv knows.
"""

from __future__ import annotations

import platform
import sys

from minrepro.environments.recipes import Recipe, Variant

CUDA_NOTE = (
    "no CPU build of PyTorch is offered by the configured indexes; this one brings CUDA libraries, about 3 GB to "
    "download (to avoid that, add an index or a find-links folder with +cpu wheels)"
)


def variants(version: str) -> tuple[Variant, ...]:
    """CPU build from the user's indexes, CPU build from uv's, whatever the index gives."""
    numpy = "numpy<2" if version and _before(version, (2, 3)) else "numpy"
    if not version or "+" in version:
        return (Variant(("torch" + (f"=={version}" if version else ""), numpy)),)
    sizes = {"download_bytes": 220_000_000, "installed_bytes": 990_000_000}
    if sys.platform != "linux" or platform.machine() not in ("x86_64", "AMD64"):
        return (Variant((f"torch=={version}", numpy), **sizes),)
    cpu = (f"torch=={version}+cpu", numpy)
    return (
        Variant(cpu, **sizes),
        Variant(cpu, "taking the CPU build from PyTorch's own index", ("--torch-backend", "cpu"), **sizes),
        Variant((f"torch=={version}", numpy), CUDA_NOTE, (), 3_000_000_000, 6_000_000_000),
    )


def _before(version: str, bound: tuple[int, int]) -> bool:
    parts = version.split(".")[:2]
    return all(part.isdigit() for part in parts) and tuple(map(int, parts)) < bound


RECIPE = Recipe(variants, pythons=("3.11", "3.12", "3.10", "3.13", "3.14"))
