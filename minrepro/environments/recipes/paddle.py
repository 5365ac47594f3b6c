"""PaddlePaddle for the CPU: the plain package is the CPU build.

Paddle 3.0 imports setuptools without declaring it; Paddle 2 was built against NumPy 1 and says so nowhere.
"""

from __future__ import annotations

from minrepro.environments.recipes import Recipe, Variant, major


def variants(version: str) -> tuple[Variant, ...]:
    """The package with what it forgets to declare."""
    requirements = ("paddlepaddle" + (f"=={version}" if version else ""), "setuptools<81")
    numpy = "numpy<2" if major(version) < 3 else "numpy"
    return (Variant((*requirements, numpy), download_bytes=225_000_000, installed_bytes=890_000_000),)


RECIPE = Recipe(variants, pythons=("3.11", "3.10", "3.12", "3.9", "3.13", "3.8"))
